// What is answered to lines that are odd, wrong, or no requests at all. The strictest contract decides.
import { describe, expect, it } from "vitest";
import { serveFixture } from "./in-process.ts";

describe("a line", () => {
  it.each([
    ["that is not JSON", "{nope", -32700],
    ["that is cut off", '{"jsonrpc":"2.0","id":1,', -32700],
    [
      "of invalid UTF-8",
      Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\xff"}}', "latin1"),
      -32700,
    ],
    ["with a number", "42", -32600],
    ["with a string", '"ping"', -32600],
    ["with null", "null", -32600],
    ["with a batch, in a revision that has none", '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600],
    ["with an empty batch", "[]", -32600],
    ["with an empty object", "{}", -32600],
    ["whose id is an object", '{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600],
    ["whose id is null, which MCP has not", '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
    ["that is nested a million times", "[".repeat(1_000_000), -32600],
  ])("%s is answered with an error for no request", async (_, line, code) => {
    await using wire = serveFixture();
    wire.raw(line);
    wire.raw("\n");
    expect(await wire.next()).toMatchObject({ jsonrpc: "2.0", id: null, error: { code } });
    expect(await wire.request("ping")).toMatchObject({ result: {} });
  });

  it.each([
    ["a wrong version", { jsonrpc: "1.0", id: 7, method: "ping" }, -32600],
    ["no version", { id: 7, method: "ping" }, -32600],
    ["no method", { jsonrpc: "2.0", id: 7 }, -32600],
    ["a method that is not a string", { jsonrpc: "2.0", id: 7, method: 1 }, -32600],
    ["an unknown method", { jsonrpc: "2.0", id: 7, method: "no/such" }, -32601],
    ["a method that objects have by birth", { jsonrpc: "2.0", id: 7, method: "constructor" }, -32601],
    ["params that are a string", { jsonrpc: "2.0", id: 7, method: "tools/list", params: "x" }, -32602],
    ["a call without params", { jsonrpc: "2.0", id: 7, method: "tools/call" }, -32602],
    [
      "a call without a name",
      { jsonrpc: "2.0", id: 7, method: "tools/call", params: { arguments: {} } },
      -32602,
    ],
    [
      "a call whose name is a number",
      { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: 1 } },
      -32602,
    ],
    [
      "a cursor that was never given out",
      { jsonrpc: "2.0", id: 7, method: "tools/list", params: { cursor: "x" } },
      -32602,
    ],
    ["an initialize without a version", { jsonrpc: "2.0", id: 7, method: "initialize", params: {} }, -32602],
  ])("with %s is answered to its id", async (_, message, code) => {
    await using wire = serveFixture();
    wire.send(message);
    expect(await wire.next()).toMatchObject({ id: 7, error: { code } });
  });

  it.each([
    ["an unknown notification", { jsonrpc: "2.0", method: "notifications/whatever", params: [1] }],
    ["a method sent as a notification", { jsonrpc: "2.0", method: "tools/call" }],
    ["a cancellation of nothing", { jsonrpc: "2.0", method: "notifications/cancelled" }],
    ["an answer to no question", { jsonrpc: "2.0", id: 99, result: {} }],
    ["an error for no request", { jsonrpc: "2.0", id: null, error: { code: -32700, message: "what?" } }],
  ])("with %s is silent", async (_, message) => {
    await using wire = serveFixture();
    wire.send(message);
    await wire.request("ping");
    expect(wire.received).toHaveLength(1);
  });

  it.each(["1.5", "-3", '""', '"a\\u0000b"', "9007199254740993", "18446744073709551615", "1e400"])(
    "with the id %s is answered to that id, digit by digit",
    async id => {
      await using wire = serveFixture();
      let written = "";
      wire.output.on("data", (chunk: string) => {
        written += chunk;
      });
      wire.raw(`{"jsonrpc":"2.0","method":"ping","id":${id}}\n`);
      await wire.next();
      expect(written).toContain(`"id":${id},`);
    },
  );

  it("with an id of a megabyte is answered to that id", async () => {
    await using wire = serveFixture();
    const id = "é".repeat(500_000);
    expect(await wire.request("ping", {}, id)).toMatchObject({ result: {} });
  });

  it("may be blank, end in CRLF, start with a byte-order mark, or lack its end at the end of input", async () => {
    await using wire = serveFixture();
    const answers = [1, 2, 3].map(id => wire.next(message => message.id === id));
    wire.raw(
      '\ufeff{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n\r\n  \n{"jsonrpc":"2.0","id":2,"method":"ping"}\n',
    );
    wire.raw('{"jsonrpc":"2.0","id":3,"method":"ping"}');
    wire.input.end();
    expect((await Promise.all(answers)).map(({ result }) => result)).toEqual([{}, {}, {}]);
    expect(wire.received).toHaveLength(3);
  });

  it("may come in pieces that cut characters apart", async () => {
    await using wire = serveFixture();
    const answer = wire.next();
    const params = { name: "echo", arguments: { text: "größer 🙂" } };
    for (const byte of Buffer.from(
      `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })}\n`,
    )) {
      wire.raw(Buffer.of(byte));
    }
    expect(await answer).toMatchObject({ result: { content: [{ text: "größer 🙂" }] } });
  });

  it("may hold parameters nested as deep as they like", async () => {
    await using wire = serveFixture();
    const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
    const answer = wire.next();
    wire.raw(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":${deep}}}}\n`,
    );
    expect(await answer).toMatchObject({ result: { isError: true } });
  });
});

describe("a batch in revision 2025-03-26", () => {
  it("is answered by a batch without its notifications", async () => {
    await using wire = serveFixture();
    await wire.initialize("2025-03-26");
    let written = "";
    wire.output.on("data", (chunk: string) => {
      written += chunk;
    });
    wire.send([
      { jsonrpc: "2.0", id: "a", method: "ping" },
      { jsonrpc: "2.0", method: "notifications/whatever" },
      { jsonrpc: "2.0", id: "b", method: "tools/call", params: { name: "echo", arguments: { text: "hi" } } },
      7,
    ]);
    await wire.next(message => message.id === "b");
    expect(JSON.parse(written)).toMatchObject([
      { id: "a", result: {} },
      { id: "b", result: { content: [{ text: "hi" }] } },
      { id: null, error: { code: -32600 } },
    ]);
  });

  it("of notifications alone is silent", async () => {
    await using wire = serveFixture();
    await wire.initialize("2025-03-26");
    wire.send([{ jsonrpc: "2.0", method: "notifications/whatever" }]);
    await wire.request("ping");
    expect(wire.received).toHaveLength(2);
  });
});
