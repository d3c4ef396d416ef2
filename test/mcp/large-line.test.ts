// Lines of some megabytes are parsed in pieces: whatever they hold, the outcome is that of JSON.parse, and requests
// behind them do not wait.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseLargeLine } from "../../src/mcp/large-line.ts";
import { serveFixture } from "./in-process.ts";

const text = fc.array(
  fc.oneof(
    fc.string({ unit: "binary", maxLength: 20 }),
    fc.constantFrom(
      '"',
      "\\",
      "\\\\",
      '\\"',
      "\n",
      "\0",
      "\ud83d",
      "é",
      "🙂",
      "[{,}]",
      "plain text of some length",
    ),
  ),
  { maxLength: 12 },
);
const anyText = text.map(parts => parts.join(""));
const anyValue = fc.letrec(tie => ({
  value: fc.oneof(
    anyText,
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter(one => !Object.is(one, -0)),
    fc.constantFrom(null, true, false),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(anyText, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;

/** All characters beyond ASCII as escapes, which pieces must not cut either. */
const escaped = (json: string) =>
  json.replace(/[\u007f-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

const parsed = (json: string): unknown => {
  try {
    return { value: JSON.parse(json) as unknown };
  } catch {
    return "not JSON";
  }
};

describe("a large line", () => {
  it("has the value that JSON.parse returns, wherever the pieces are cut", async () => {
    await fc.assert(
      fc.asyncProperty(
        anyValue,
        fc.integer({ min: 6, max: 40 }),
        fc.boolean(),
        async (value, size, plain) => {
          const json = plain ? JSON.stringify(value) : escaped(JSON.stringify(value));
          expect(await parseLargeLine(Buffer.from(json), size)).toMatchObject(parsed(json) as object);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("is refused where JSON.parse refuses it", async () => {
    await fc.assert(
      fc.asyncProperty(
        anyValue,
        fc.nat(),
        fc.constantFrom("", '"', "\\", "}", "\n", "x"),
        async (value, at, put) => {
          const whole = JSON.stringify(value);
          const place = at % (whole.length + 1);
          const json = (whole.slice(0, place) + put + whole.slice(place + 1)).toWellFormed();
          const read = await parseLargeLine(Buffer.from(json), 8);
          const expected = parsed(json);
          if (typeof expected === "string") expect(read).toBe(expected);
          else expect(read).toMatchObject(expected as object);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("keeps a key named __proto__ a key, and takes the last of two that are the same", async () => {
    const long = "long ".repeat(10);
    const json = `{"__proto__":"${long}","a":"${long}1","a":"${long}2"}`;
    const read = await parseLargeLine(Buffer.from(json), 8);
    const value = (read as { value: Record<string, unknown> }).value;
    expect(Object.entries(value)).toEqual([
      ["__proto__", long],
      ["a", `${long}2`],
    ]);
  });

  it("is refused where it is not UTF-8, or has too much structure", async () => {
    expect(await parseLargeLine(Buffer.from([0x22, 0xff, 0x22]))).toBe("not UTF-8");
    expect(await parseLargeLine(Buffer.from("[".repeat(2000)))).toHaveProperty("problem");
  });
});

describe("behind a large request", () => {
  const large = 'large "text"\n'.repeat(400_000);
  const echo = (text: string) => ({ name: "echo", arguments: { text } });

  it("a small one is answered first, and both are answered", async () => {
    await using wire = serveFixture();
    await wire.initialize();
    const [first, second] = [wire.request("tools/call", echo(large)), wire.request("ping")];
    expect(await Promise.race([first.then(() => "large"), second.then(() => "small")])).toBe("small");
    expect(JSON.stringify((await first).result)).toContain(JSON.stringify(large.slice(-100)).slice(1, -1));
  });

  it("a cancellation still reaches it", async () => {
    await using wire = serveFixture();
    await wire.initialize();
    const request = { name: "hang", arguments: {}, _meta: { padding: large } };
    wire.send({ jsonrpc: "2.0", id: "h", method: "tools/call", params: request });
    wire.notify("notifications/cancelled", { requestId: "h" });
    await wire.request("tools/call", echo(large));
    wire.input.end();
    await new Promise(resolve => wire.output.once("end", resolve));
    expect(wire.received.filter(({ id }) => id === "h")).toEqual([]);
  });
});
