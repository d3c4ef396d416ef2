// Calls that are answered without the SDK, beside the same calls that it answers: a client that can be asked questions
// always gets the SDK's answer. What arrives must be the same.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import type { Dialect } from "../../src/contract/dialect.ts";
import { tool } from "../../src/contract/tool.ts";
import { Fault } from "../../src/engine/fault.ts";
import { fixture } from "../mcp/fixture.ts";
import { serve, tree } from "./fixture.ts";
import { serveFixture } from "./fixture-http.ts";
import { initialize, legacy, modern, type Reply, send } from "./wire.ts";

const size = {
  type: "object",
  properties: { length: { type: "integer" }, steps: { type: "integer" } },
  required: ["length"],
} as const;

const large = tool({
  name: "large",
  title: "Large",
  description: "A text of any length, with notices on the way.",
  input: size,
  effect: "reads",
  run: async ({ length, steps = 0 }, { progress }) => {
    for (let n = 1; n <= steps; n++) progress(n, steps);
    return { content: [{ type: "text", text: 'ä"\n\u2028𝄞'.repeat(length).slice(0, length) }] };
  },
});

const codes = [-32021, -32020, -32022, -32001, -32603, 7];
const failing = tool({
  name: "fail_with",
  title: "Fail",
  description: "Fails with a code.",
  input: { type: "object", properties: { code: { type: "integer" } }, required: ["code"] },
  effect: "reads",
  run: ({ code }) => {
    throw new Fault("internal", { message: String(code) });
  },
});

const failure: Dialect["failure"] = (fault, call) => {
  if (!Fault.is(fault, "internal")) return fixture.failure(fault, call);
  const code = Number(fault.data.message);
  return { error: { code, message: `code ${code}`, data: { requiredCapabilities: { sampling: {} } } } };
};

let url: string;
beforeEach(async () => {
  url = await serveTools([...fixture.tools, large, failing]);
});

async function serveTools(tools: Dialect["tools"]): Promise<string> {
  const served = await serveFixture({ dialects: { fixture: async () => ({ ...fixture, tools, failure }) } });
  return `${served.url}/mcp`;
}

async function session(capabilities: object, protocolVersion: string): Promise<Record<string, string>> {
  const params = { protocolVersion, capabilities, clientInfo: { name: "wire", version: "1" } };
  const { headers } = await legacy(url, { id: 0, method: "initialize", params });
  const own = {
    "mcp-session-id": String(headers["mcp-session-id"]),
    "mcp-protocol-version": protocolVersion,
  };
  await legacy(url, { method: "notifications/initialized" }, own);
  return own;
}

/** Everything that a client sees, but for the session's name and the date. */
function seen({ status, headers, body }: Reply) {
  const events = body.split("\n\n").filter(event => event !== "");
  const messages = events.map(event => JSON.parse(event.replace(/^event: message\ndata: /, "")));
  return { status, type: headers["content-type"], cached: headers["cache-control"], messages };
}

const isDirect = (reply: Reply) =>
  reply.headers["content-length"] !== undefined || /"jsonrpc":"2.0","id":[^,]*,"result"/.test(reply.body);

const calls: readonly Record<string, unknown>[] = [
  { name: "large", arguments: { length: 10 } },
  { name: "large", arguments: { length: 0 } },
  { name: "large", arguments: { length: 300_000 } },
  { name: "large", arguments: { length: 10, steps: 3 }, _meta: { progressToken: "t" } },
  { name: "large", arguments: { length: 100_000, steps: 2 }, _meta: { progressToken: 7 } },
  { name: "large", arguments: { length: "ten" } },
  { name: "large" },
  { name: "nothing", arguments: {} },
  ...codes.map(code => ({ name: "fail_with", arguments: { code } })),
  { name: "echo", arguments: { text: "one" } },
  { name: "echo", arguments: { text: "one" }, unknown: 1 },
];

describe("a call is answered as the SDK answers it", () => {
  it.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])("in a session of %s", async revision => {
    const plain = await session({}, revision);
    const asking = await session({ elicitation: {} }, revision);
    for (const [n, params] of calls.entries()) {
      const message = { id: n % 2 === 0 ? n : `a/${n}`, method: "tools/call", params };
      const direct = await legacy(url, message, plain);
      const sdk = await legacy(url, message, asking);
      expect([params, seen(direct)]).toEqual([params, seen(sdk)]);
      expect([params, isDirect(direct), isDirect(sdk)]).toEqual([params, true, false]);
    }
  });

  it("in 2026-07-28", async () => {
    const asks = { "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } };
    for (const params of calls) {
      const direct = await modern(url, "tools/call", params);
      const meta = { ...(params._meta as object), ...asks };
      const sdk = await modern(url, "tools/call", { ...params, _meta: meta });
      expect([params, seen(direct)]).toEqual([params, seen(sdk)]);
      expect([params, isDirect(direct), isDirect(sdk)]).toEqual([params, true, false]);
    }
  });
});

describe("the SDK refuses", () => {
  const both = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const params = { name: "large", arguments: { length: 1 } };
  const good = { jsonrpc: "2.0", id: 1, method: "tools/call", params };

  it.each([
    ["an invalid id", { ...good, id: 1.5 }, {}],
    ["an id that is an object", { ...good, id: {} }, {}],
    ["another version of JSON-RPC", { ...good, jsonrpc: "1.0" }, {}],
    ["an invalid progress token", { ...good, params: { ...params, _meta: { progressToken: {} } } }, {}],
    ["metadata that is not an object", { ...good, params: { ...params, _meta: "x" } }, {}],
    ["a revision that there is not", good, { "mcp-protocol-version": "2023-01-01" }],
    ["a client that takes no stream", good, { accept: "application/json" }],
  ])("%s", async (_, message, headers) => {
    const own = await session({}, "2025-11-25");
    const reply = await send(url, {
      method: "POST",
      headers: { ...both, ...own, ...headers },
      body: JSON.stringify(message),
    });
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(reply.status).toBeLessThan(500);
  });

  const wrong: readonly (readonly [string, Record<string, string>, object])[] = [
    ["a name in the head that is not the tool's", { "mcp-name": "echo" }, {}],
    ["a method in the head that is not the body's", { "mcp-method": "tools/list" }, {}],
    ["a revision in the head that is not the body's", { "mcp-protocol-version": "2025-11-25" }, {}],
    [
      "a capability that is not an object",
      {},
      { "io.modelcontextprotocol/clientCapabilities": { roots: 1 } },
    ],
    ["a client without a version", {}, { "io.modelcontextprotocol/clientInfo": { name: "x" } }],
  ];

  it.each(wrong)("%s, in 2026-07-28", async (_, headers, meta) => {
    const { status, message } = await modern(url, "tools/call", { ...params, _meta: meta }, headers);
    expect(status).toBe(400);
    expect(message.error?.code).toBeLessThan(-32000);
  });
});

it("a change by a plain call is made once, and recorded as its session's", async () => {
  const root = tree({ "a.txt": "1\n" });
  const { url } = await serve([root], { dialect: "polyfs" });
  const session = await initialize(`${url}/mcp`);
  const edit = { name: "edit_file", arguments: { path: "a.txt", edits: [{ old: "1", new: "11" }] } };
  await legacy(`${url}/mcp`, { id: 1, method: "tools/call", params: edit }, session);
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("11\n");
  const list = { name: "list_changes", arguments: {} };
  const { body } = await legacy(`${url}/mcp`, { id: 2, method: "tools/call", params: list }, session);
  expect(body).toContain("edit_file · you"); // the session that made the change
});

it("a call in a session stops when it is cancelled, and when the session ends; neither gets an answer", async () => {
  const seen = { started: 0, stopped: 0 };
  const wait = tool({
    name: "wait",
    title: "Wait",
    description: "Runs until it is stopped.",
    input: { type: "object", properties: {} },
    effect: "reads",
    run: async (_, { signal }) => {
      seen.started++;
      await new Promise<void>(resolve => signal.addEventListener("abort", () => resolve()));
      seen.stopped++;
      throw new Error("stopped");
    },
  });
  const url = await serveTools([wait]);
  const session = await initialize(url);
  const ways = [
    () => legacy(url, { method: "notifications/cancelled", params: { requestId: 9 } }, session),
    () => send(url, { method: "DELETE", headers: session }),
  ];
  for (const [i, stop] of ways.entries()) {
    const message = { id: 9, method: "tools/call", params: { name: "wait", arguments: {} } };
    const answer = legacy(url, message, session);
    for (let n = 0; n < 1000 && seen.started === i; n++) await sleep(10);
    await stop();
    const { status, body } = await answer;
    expect([status, body, seen.stopped]).toEqual([200, "", i + 1]);
  }
});
