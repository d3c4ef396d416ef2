// The client's roots, where the server wants them: asked for at the right time, taken in before calls run.
import { describe, expect, it } from "vitest";
import type { ClientRoot } from "../../src/mcp/roots.ts";
import { serveFixture } from "./in-process.ts";
import type { Message, Wire } from "./wire.ts";

const asks = ({ method }: Message) => method === "roots/list";

async function answerRoots(wire: Wire, roots: unknown): Promise<void> {
  const { id } = await wire.next(asks);
  wire.send({ jsonrpc: "2.0", id, result: { roots } });
}

describe("a client with roots", () => {
  it("is asked for them once it is initialized, and again when they change", async () => {
    const lists: (readonly ClientRoot[])[] = [];
    await using wire = serveFixture({ onRoots: roots => void lists.push(roots) });
    await wire.initialize("2025-06-18", { roots: { listChanged: true } });
    await answerRoots(wire, [{ uri: "file:///a", name: "a" }, { nonsense: true }]);
    wire.notify("notifications/roots/list_changed");
    await answerRoots(wire, [{ uri: "file:///b" }]);
    await wire.call("echo", { text: "" });
    expect(lists).toEqual([[{ uri: "file:///a", name: "a" }], [{ uri: "file:///b" }]]);
  });

  it("waits with its calls until the roots are known", async () => {
    const order: string[] = [];
    await using wire = serveFixture({ onRoots: () => void order.push("roots") });
    await wire.initialize("2025-06-18", { roots: {} });
    const call = wire.call("echo", { text: "" }).then(() => order.push("call"));
    await wire.request("ping");
    await answerRoots(wire, []);
    await call;
    expect(order).toEqual(["roots", "call"]);
  });

  it.each([
    ["answers with an error", { error: { code: -32603, message: "no" } }],
    ["answers with nonsense", { result: { roots: "none" } }],
  ])("that %s is served without them", async (_, answer) => {
    const lists: unknown[] = [];
    await using wire = serveFixture({ onRoots: roots => void lists.push(roots) });
    await wire.initialize("2025-06-18", { roots: {} });
    const { id } = await wire.next(asks);
    wire.send({ jsonrpc: "2.0", id, ...answer });
    expect(await wire.call("echo", { text: "hi" })).toMatchObject({ content: [{ text: "hi" }] });
    expect(lists).toEqual([]);
  });

  it("that closes its input without an answer still gets the answers to its calls", async () => {
    const wire = serveFixture({ onRoots: () => {} });
    await wire.initialize("2025-06-18", { roots: {} });
    const call = wire.call("echo", { text: "hi" });
    await wire.close();
    expect(await call).toMatchObject({ content: [{ text: "hi" }] });
  });
});

describe("a client that is not asked for roots", () => {
  it.each([
    ["has none", {}, () => {}],
    ["has them, but the server does not want them", { roots: {} }, undefined],
  ])("%s", async (_, capabilities, onRoots) => {
    await using wire = serveFixture({ onRoots });
    await wire.initialize("2025-06-18", capabilities);
    await wire.call("echo", { text: "" });
    expect(wire.received.filter(asks)).toEqual([]);
  });
});
