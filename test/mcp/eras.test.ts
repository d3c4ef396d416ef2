// The two eras on one connection: the handshake and its versions, the envelope and its mistakes.
import { describe, expect, it } from "vitest";
import { envelope, serveFixture } from "./in-process.ts";

const versionKey = "io.modelcontextprotocol/protocolVersion";
const serverInfo = { name: "fixture", title: "Fixture", version: "1.2.3" };

describe("the handshake", () => {
  it.each([
    ["2024-11-05", "2024-11-05"],
    ["2025-03-26", "2025-03-26"],
    ["2025-06-18", "2025-06-18"],
    ["2025-11-25", "2025-11-25"],
    ["1999-01-01", "2025-11-25"],
    ["2026-07-28", "2025-11-25"],
  ])("that asks for %s gets %s", async (asked, given) => {
    await using wire = serveFixture();
    expect((await wire.initialize(asked)).result).toEqual({
      protocolVersion: given,
      capabilities: { tools: {} },
      serverInfo,
      instructions: "Be brief.",
    });
    expect(await wire.call("whoami")).toMatchObject({ content: [{ text: `wire/1 ${given} 1` }] });
  });

  it("is not needed: a call without it is taken as one of the revision that HTTP assumes", async () => {
    await using wire = serveFixture();
    expect(await wire.call("whoami")).toEqual({ content: [{ type: "text", text: "unknown 2025-03-26 1" }] });
  });

  it("holds for the next line, even when both come at once", async () => {
    await using wire = serveFixture();
    const first = wire.initialize("2024-11-05");
    const second = wire.call("whoami");
    await first;
    expect(await second).toMatchObject({ content: [{ text: "wire/1 2024-11-05 1" }] });
  });
});

describe("a request with an envelope", () => {
  it("is served without a handshake, and stamped", async () => {
    await using wire = serveFixture();
    expect(await wire.call("measure", { text: "four" }, envelope())).toEqual({
      content: [{ type: "text", text: "4" }],
      structuredContent: { length: 4 },
      resultType: "complete",
      _meta: { "example/unit": "utf-16", "io.modelcontextprotocol/serverInfo": serverInfo },
    });
    expect(await wire.call("whoami", {}, envelope())).toMatchObject({
      content: [{ text: "wire/2 2026-07-28 1" }],
    });
  });

  it("may look around first and fall back to the handshake", async () => {
    await using wire = serveFixture();
    expect((await wire.request("server/discover", { _meta: envelope() })).result).toEqual({
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {} },
      instructions: "Be brief.",
      resultType: "complete",
      ttlMs: 0,
      cacheScope: "private",
      _meta: { "io.modelcontextprotocol/serverInfo": serverInfo },
    });
    expect(await wire.initialize()).toMatchObject({ result: { protocolVersion: "2025-11-25" } });
  });

  it("says how long the list of tools keeps", async () => {
    await using wire = serveFixture();
    const { result } = await wire.request("tools/list", { _meta: envelope() });
    expect(result).toMatchObject({ resultType: "complete", ttlMs: 300_000, cacheScope: "private" });
    expect(result).toEqual((await wire.request("tools/list", { _meta: envelope() })).result);
  });

  it.each(["ping", "initialize", "logging/setLevel"])("has no %s", async method => {
    await using wire = serveFixture();
    await wire.call("echo", { text: "" }, envelope());
    const { error } = await wire.request(method, { _meta: envelope(), protocolVersion: "2025-11-25" });
    expect(error?.code).toBe(method === "initialize" ? -32022 : -32601);
  });

  it.each([
    ["an unknown revision", { [versionKey]: "2031-01-01" }, -32022],
    ["a legacy revision", { [versionKey]: "2025-06-18" }, -32022],
    ["a revision that is not a string", { [versionKey]: 20260728 }, -32602],
    ["no capabilities", { "io.modelcontextprotocol/clientCapabilities": undefined }, -32602],
    ["a client without a name", { "io.modelcontextprotocol/clientInfo": { version: "1" } }, -32602],
    ["an unknown log level", { "io.modelcontextprotocol/logLevel": "loud" }, -32602],
  ])("of %s is refused", async (_, more: Record<string, unknown>, code) => {
    await using wire = serveFixture();
    const { error } = await wire.request("tools/list", { _meta: envelope(more) });
    expect(error?.code).toBe(code);
    if (code === -32022) {
      expect(error?.data).toEqual({ supported: ["2026-07-28"], requested: more[versionKey] });
    }
  });

  it("makes a later one without it a mistake, reported as such", async () => {
    await using wire = serveFixture();
    await wire.call("echo", { text: "" }, envelope());
    expect((await wire.request("tools/list")).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining(versionKey),
    });
    expect((await wire.request("initialize", { protocolVersion: "2025-11-25" })).error).toMatchObject({
      code: -32022,
      data: { supported: ["2026-07-28"], requested: "2025-11-25" },
    });
  });

  it("is honoured after a handshake too, without ending the legacy era", async () => {
    await using wire = serveFixture();
    await wire.initialize();
    expect(await wire.call("echo", { text: "" }, envelope())).toMatchObject({ resultType: "complete" });
    expect(await wire.call("echo", { text: "" })).not.toHaveProperty("resultType");
  });
});
