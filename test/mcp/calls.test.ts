// The list of tools and the life of a call on the wire: results, failures, progress, cancellation, order.
import { describe, expect, it } from "vitest";
import { defaultSettings } from "../../src/contract/settings.ts";
import { fixture } from "./fixture.ts";
import { envelope, serveFixture } from "./in-process.ts";

type Listed = { name: string; annotations: unknown; outputSchema?: unknown; inputSchema: unknown };

async function list(options: Parameters<typeof serveFixture>[0] = {}): Promise<Listed[]> {
  await using wire = serveFixture(options);
  return (await wire.request("tools/list")).result?.tools as Listed[];
}

describe("the list of tools", () => {
  it("has every tool in its order, with the dialect's prefix", async () => {
    const tools = await list();
    expect(tools.map(({ name }) => name)).toEqual(fixture.tools.map(({ name }) => `fx.${name}`));
    expect(tools[1]).toMatchObject({ title: "Measure", outputSchema: { required: ["length"] } });
    expect(tools[0]?.inputSchema).toEqual(fixture.tools[0]?.input);
  });

  it("has plain names where the user asks for them", async () => {
    const tools = await list({ settings: { ...defaultSettings, plainNames: true } });
    expect(tools[0]?.name).toBe("echo");
  });

  it("has only what the dialect offers", async () => {
    const dialect = { ...fixture, offers: (tool: { effect: string }) => tool.effect === "writes" };
    expect((await list({ dialect })).map(({ name }) => name)).toEqual(["fx.refuse", "fx.fail"]);
  });

  it.each([
    ["echo", true, false, true, false],
    ["refuse", false, true, false, false],
    ["fail", false, false, true, false],
    ["hang", false, true, false, true],
  ])(
    "annotates %s by its effect",
    async (name, readOnlyHint, destructiveHint, idempotentHint, openWorldHint) => {
      const found = (await list()).find(tool => tool.name === `fx.${name}`);
      expect(found?.annotations).toEqual({ readOnlyHint, destructiveHint, idempotentHint, openWorldHint });
    },
  );
});

describe("a call", () => {
  it.each(["echo", "fx.echo"])("by the name %s reaches the tool", async name => {
    await using wire = serveFixture();
    expect(await wire.call(name, { text: "hi" })).toEqual({ content: [{ type: "text", text: "hi" }] });
  });

  it("that fails by the protocol carries the dialect's code and data", async () => {
    await using wire = serveFixture();
    expect((await wire.request("tools/call", { name: "refuse" })).error).toEqual({
      code: -32001,
      message: "Not allowed: everything",
      data: { what: "everything" },
    });
  });

  it("that fails by its result is a result", async () => {
    await using wire = serveFixture();
    expect(await wire.call("fail")).toEqual({
      content: [{ type: "text", text: "No such file or directory: /nowhere" }],
      isError: true,
    });
  });

  it("whose answer cannot be encoded is an internal error, not left unanswered", async () => {
    await using wire = serveFixture();
    expect((await wire.request("tools/call", { name: "spin" })).error).toMatchObject({ code: -32603 });
  });

  it("sends no audio to a client whose revision has none", async () => {
    await using old = serveFixture();
    await old.initialize("2024-11-05");
    expect(await old.call("sing")).toMatchObject({
      content: [{ type: "resource", resource: { blob: "AAAA" } }],
    });
    await using wire = serveFixture();
    expect(await wire.call("sing")).toMatchObject({ content: [{ type: "audio" }] });
  });

  it("does not wait for a slower one before it", async () => {
    await using wire = serveFixture();
    const slow = wire.call("slow", { steps: 1, ms: 300 });
    await wire.call("echo", { text: "quick" });
    expect(wire.received).toHaveLength(1);
    await slow;
  });

  it("with an id that is still in use is answered as well", async () => {
    await using wire = serveFixture();
    const params = (text: string) => ({ name: "echo", arguments: { text } });
    const answers = await Promise.all([
      wire.request("tools/call", params("one"), "same"),
      wire.request("tools/call", params("two"), "same"),
    ]);
    expect(answers.map(({ result }) => result?.content)).toMatchObject([
      [{ text: "one" }],
      [{ text: "two" }],
    ]);
  });

  it("that is running when the input ends is finished and answered", async () => {
    const wire = serveFixture();
    const answer = wire.call("slow", { steps: 3, ms: 50 });
    await wire.close();
    expect(await answer).toMatchObject({ content: [{ text: "counted to 3" }] });
  });
});

describe("progress", () => {
  it.each([
    ["legacy", {}],
    ["modern", envelope()],
  ])(
    "is told to a client of the %s era that asks for it, growing, seldom, and not after the end",
    async (_, meta) => {
      await using wire = serveFixture();
      await wire.call("slow", { steps: 200 }, { ...meta, progressToken: "p" });
      await wire.call("echo", { text: "" }, meta);
      const told = wire.received
        .filter(({ method }) => method === "notifications/progress")
        .map(({ params }) => params);
      const steps = told.map(params => params?.progress as number);
      expect(told.at(-1)).toEqual({ progressToken: "p", progress: 200, total: 200, message: "step 200" });
      expect(steps).toEqual([...new Set(steps)].sort((a, b) => a - b));
      expect(steps.length).toBeLessThan(100);
      expect(wire.received.findIndex(({ result }) => result !== undefined)).toBe(told.length);
    },
  );

  it("is not sent to one that does not", async () => {
    await using wire = serveFixture();
    await wire.call("slow", { steps: 3 });
    expect(wire.received).toHaveLength(1);
  });
});

describe("cancelling", () => {
  it("stops the call, which then is not answered", async () => {
    await using wire = serveFixture();
    wire.send({ jsonrpc: "2.0", id: "h", method: "tools/call", params: { name: "hang" } });
    await wire.request("ping");
    wire.notify("notifications/cancelled", { requestId: "h", reason: "changed my mind" });
    await wire.request("ping");
    await wire.close();
    expect(wire.received.map(({ id }) => id)).toEqual([1, 2]);
  });

  it("distinguishes a number from a string", async () => {
    await using wire = serveFixture();
    const slow = wire.request("tools/call", { name: "slow", arguments: { steps: 1, ms: 100 } }, 5);
    wire.notify("notifications/cancelled", { requestId: "5" });
    expect(await slow).toMatchObject({ result: { content: [{ text: "counted to 1" }] } });
  });

  it("has no effect on a call that has been answered", async () => {
    await using wire = serveFixture();
    await wire.request("ping", {}, 5);
    wire.notify("notifications/cancelled", { requestId: 5 });
    expect(await wire.request("ping", {}, 5)).toMatchObject({ result: {} });
  });
});
