// Our core against the SDK's server on the same tools: the same lines in, the same answers out, in both eras. Where
// we differ on purpose, the case says what the SDK does and why we do not. Messages of errors are ours to word.
import { describe, expect, it } from "vitest";
import { envelope, serveFixture } from "./in-process.ts";
import { serveBySdk } from "./sdk-server.ts";
import type { Message, Wire } from "./wire.ts";

type Request = readonly [method: string, params?: unknown];

interface Case {
  readonly name: string;
  /** Sent one after the other, each after the answer to the one before. */
  readonly requests: readonly Request[];
  /** On purpose: why, and what the SDK answers to the last request. */
  readonly differs?: { readonly because: string; readonly sdk: unknown; readonly ours: unknown };
}

const hello = (protocolVersion: string): Request => [
  "initialize",
  { protocolVersion, capabilities: {}, clientInfo: { name: "wire", version: "2" } },
];
const call = (name: string, args: unknown = {}, meta?: unknown): Request => [
  "tools/call",
  { name, arguments: args, _meta: meta },
];
const modern = (more = {}) => ({ _meta: envelope(more) });
const version = "io.modelcontextprotocol/protocolVersion";

const calls: readonly (readonly [name: string, args?: unknown, meta?: Record<string, unknown>])[] = [
  ["echo", { text: "größer 🙂\u2028\ud800" }],
  ["fx.echo", { text: "" }],
  ["echo", {}],
  ["echo", { text: 1, more: 2 }],
  ["measure", { text: "four" }],
  ["whoami"],
  ["slow", { steps: 3 }, { progressToken: 7 }],
  ["refuse"],
  ["fail"],
  ["sing"],
  ["no such tool"],
];

const cases: Case[] = [
  ...["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "1999-01-01"].map(asked => ({
    name: `the handshake for ${asked}`,
    requests: [hello(asked), call("whoami"), ["ping"] as const],
  })),
  ...calls.map(([name, args, meta]) => ({
    name: `a legacy call of ${name} with ${JSON.stringify(args)}`,
    requests: [hello("2025-11-25"), call(name, args, meta)],
  })),
  ...calls.map(([name, args, meta]) => ({
    name: `a modern call of ${name} with ${JSON.stringify(args)}`,
    requests: [call(name, args, envelope(meta))],
  })),
  { name: "the legacy list", requests: [hello("2025-06-18"), ["tools/list"]] },
  { name: "the modern list", requests: [["tools/list", modern()]] },
  { name: "a list without a handshake", requests: [["tools/list"]] },
  { name: "discovery", requests: [["server/discover", modern()]] },
  {
    name: "discovery, then the handshake",
    requests: [["server/discover", modern()], hello("2025-11-25"), ["ping"]],
  },
  {
    name: "discovery, then a call",
    requests: [["server/discover", modern()], call("whoami", {}, envelope())],
  },
  { name: "discovery without an envelope", requests: [["server/discover"]] },
  { name: "an unknown method", requests: [hello("2025-11-25"), ["no/such"]] },
  { name: "an unknown modern method", requests: [["no/such", modern()]] },
  { name: "resources, which we do not have", requests: [hello("2025-11-25"), ["resources/list"]] },
  {
    name: "log levels, which we do not have",
    requests: [hello("2025-11-25"), ["logging/setLevel", { level: "info" }]],
  },
  {
    name: "a modern ping",
    requests: [
      ["tools/list", modern()],
      ["ping", modern()],
    ],
  },
  { name: "a call without a name", requests: [hello("2025-11-25"), ["tools/call", {}]] },
  { name: "a call without params", requests: [hello("2025-11-25"), ["tools/call"]] },
  { name: "an unknown revision", requests: [["tools/list", modern({ [version]: "2031-01-01" })]] },
  {
    name: "a legacy revision in an envelope",
    requests: [["tools/list", modern({ [version]: "2025-06-18" })]],
  },
  {
    name: "an envelope without capabilities",
    requests: [["tools/list", modern({ "io.modelcontextprotocol/clientCapabilities": undefined })]],
  },
  { name: "no envelope after a modern request", requests: [["tools/list", modern()], ["tools/list"]] },
  {
    name: "an unknown method without envelope after a modern request",
    requests: [["tools/list", modern()], ["no/such"]],
  },
  { name: "the handshake after a modern request", requests: [["tools/list", modern()], hello("2025-11-25")] },
  {
    name: "a cursor that was never given out",
    requests: [hello("2025-11-25"), ["tools/list", { cursor: "x" }]],
    differs: {
      because: "the specification asks for an error where the SDK leaves it to the handler",
      sdk: { result: { tools: expect.any(Array) } },
      ours: { error: { code: -32602 } },
    },
  },
  {
    name: "a revision that is not a string",
    requests: [["tools/list", modern({ [version]: 7 })]],
    differs: {
      because: "the same code and key, but its validator's words are in the data",
      sdk: { error: { code: -32602, data: { envelope: { key: version, problem: expect.any(String) } } } },
      ours: { error: { code: -32602, data: { envelope: { key: version, problem: "expected a string" } } } },
    },
  },
  {
    name: "arguments that are no object",
    requests: [hello("2025-11-25"), call("echo", "text")],
    differs: {
      because: "wrong arguments are told by the dialect's channel, whatever is wrong with them",
      sdk: { error: { code: -32602 } },
      ours: { result: { content: expect.any(Array), isError: true } },
    },
  },
  {
    name: "a handshake without a client's name",
    requests: [["initialize", { protocolVersion: "2025-11-25" }]],
    differs: {
      because: "nothing that we answer depends on it",
      sdk: { error: { code: expect.any(Number) } },
      ours: { result: expect.objectContaining({ protocolVersion: "2025-11-25" }) },
    },
  },
  {
    name: "an envelope after the handshake",
    requests: [hello("2025-11-25"), call("echo", { text: "hi" }, envelope())],
    differs: {
      because: "a request that names its revision is answered in that revision",
      sdk: { result: { content: [{ type: "text", text: "hi" }] } },
      ours: { result: expect.objectContaining({ resultType: "complete" }) },
    },
  },
  {
    name: "an envelope after a request without one",
    requests: [["ping"], call("echo", { text: "hi" }, envelope())],
    differs: {
      because: "only the handshake makes a connection a legacy one",
      sdk: { result: { content: [{ type: "text", text: "hi" }] } },
      ours: { result: expect.objectContaining({ resultType: "complete" }) },
    },
  },
];

/** What comes back for a case, notifications included; of errors the code and the data. */
async function play(wire: Wire, requests: readonly Request[]): Promise<unknown[]> {
  for (const [index, [method, params]] of requests.entries()) await wire.request(method, params, index);
  await wire.close();
  return wire.received.map(essence);
}

function essence({ id, method, params, result, error }: Message): unknown {
  if (method !== undefined) return { method, params };
  if (error === undefined) return { id, result };
  return {
    id,
    error: error.data === undefined ? { code: error.code } : { code: error.code, data: error.data },
  };
}

describe("our core answers as the SDK's server does", () => {
  it.each(cases)("$name", async ({ requests, differs }) => {
    const ours = await play(serveFixture(), requests);
    const theirs = await play(serveBySdk(), requests);
    expect(ours.length).toBeGreaterThanOrEqual(requests.length);
    if (differs === undefined) return expect(withLastProgress(ours)).toEqual(theirs);
    const last = (answers: unknown[]) => ({ ...(answers.at(-1) as object) });
    expect(last(theirs)).toEqual({ id: requests.length - 1, ...(differs.sdk as object) });
    expect(last(ours)).toEqual({ id: requests.length - 1, ...(differs.ours as object) });
    return expect(ours.slice(0, -1)).toEqual(theirs.slice(0, -1));
  });
});

/** Without the progress that comes in between, which depends on time. */
function withLastProgress(answers: unknown[]): unknown[] {
  return answers.filter(answer => {
    const params = (answer as Message).params;
    return params === undefined || params.progress === params.total;
  });
}

describe("our core answers where the SDK's server is silent", () => {
  it.each([
    ["a line that is not JSON", "{nope", null, -32700],
    ["a value that is not a request", "42", null, -32600],
    ["a request without a version", '{"id":1,"method":"ping"}', 1, -32600],
  ])("to %s", async (_, line, id, code) => {
    const wires = [serveFixture(), serveBySdk()];
    for (const wire of wires) {
      wire.raw(`${line}\n`);
      await wire.request("ping", {}, "after");
      await wire.close();
    }
    const [ours, theirs] = wires.map(wire => wire.received.filter(message => message.id !== "after"));
    expect(theirs).toEqual([]);
    expect(ours).toMatchObject([{ id, error: { code } }]);
  });

  it("to a call that is running when the input ends", async () => {
    const wires = [serveFixture(), serveBySdk()];
    for (const wire of wires) {
      wire.send({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "slow", arguments: { steps: 1, ms: 100 } },
      });
      await wire.request("ping", {}, "after");
      await wire.close();
    }
    const [ours, theirs] = wires.map(wire => wire.received.filter(message => message.id === 1));
    expect(theirs).toEqual([]);
    expect(ours).toMatchObject([{ result: { content: [{ text: "counted to 1" }] } }]);
  });
});
