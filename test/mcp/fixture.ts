// A tiny dialect that shows every way in which a call can go, for tests of the protocol alone.
import { setTimeout as sleep } from "node:timers/promises";
import type { Dialect } from "../../src/contract/dialect.ts";
import type { Slot } from "../../src/contract/session.ts";
import { defaultSettings } from "../../src/contract/settings.ts";
import { text, tool } from "../../src/contract/tool.ts";
import { plainWording, say } from "../../src/contract/wording.ts";
import { openEngine } from "../../src/engine/engine.ts";
import { Fault } from "../../src/engine/fault.ts";
import type { ServerOptions } from "../../src/mcp/method.ts";

const none = { type: "object", properties: {} } as const;
const calls: Slot<number> = { initial: () => 0 };

const tools = [
  tool({
    name: "echo",
    title: "Echo",
    description: "Answers with the text that it is given.",
    input: {
      type: "object",
      properties: { text: { type: "string" } },
      required: ["text"],
      additionalProperties: false,
    },
    effect: "reads",
    run: params => text(params.text),
  }),
  tool({
    name: "measure",
    title: "Measure",
    description: "Answers with structured content and metadata.",
    input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    output: { type: "object", properties: { length: { type: "integer" } }, required: ["length"] },
    effect: "reads",
    run: params => ({
      ...text(String(params.text.length), { length: params.text.length }),
      meta: { "example/unit": "utf-16" },
    }),
  }),
  tool({
    name: "whoami",
    title: "Who am I",
    description: "Says what the server knows about its caller.",
    input: none,
    effect: "reads",
    run: (_, { session, revision }) => {
      session.set(calls, session.get(calls) + 1);
      return text(`${session.client} ${revision} ${session.get(calls)}`);
    },
  }),
  tool({
    name: "slow",
    title: "Slow",
    description: "Counts to `steps`, telling its progress.",
    input: {
      type: "object",
      properties: { steps: { type: "integer" }, ms: { type: "integer", default: 1 } },
      required: ["steps"],
    },
    effect: "reads",
    run: async ({ steps, ms }, { progress, signal }) => {
      for (let step = 1; step <= steps; step++) {
        await sleep(ms, undefined, { signal });
        progress(step, steps, `step ${step}`);
      }
      return text(`counted to ${steps}`);
    },
  }),
  tool({
    name: "hang",
    title: "Hang",
    description: "Runs until it is stopped, and says on standard error when it starts and stops.",
    input: none,
    effect: "runs",
    run: async (_, { signal }) => {
      process.stderr.write("hanging\n");
      await sleep(600_000, undefined, { signal }).catch(() => process.stderr.write("stopped hanging\n"));
      return text("stopped");
    },
  }),
  tool({
    name: "big",
    title: "Big",
    description: "Answers with so many characters.",
    input: {
      type: "object",
      properties: { characters: { type: "integer" }, of: { type: "string", default: "x" } },
      required: ["characters"],
    },
    effect: "reads",
    run: ({ characters, of }) => text(of.repeat(characters / of.length)),
  }),
  tool({
    name: "refuse",
    title: "Refuse",
    description: "Fails by a protocol error.",
    input: none,
    effect: "writes",
    run: () => {
      throw new Fault("denied", { what: "everything" });
    },
  }),
  tool({
    name: "fail",
    title: "Fail",
    description: "Fails by a result.",
    input: none,
    effect: "writes",
    destructive: false,
    idempotent: true,
    run: () => {
      throw new Fault("not_found", { path: "/nowhere" });
    },
  }),
  tool({
    name: "sing",
    title: "Sing",
    description: "Answers with audio.",
    input: none,
    effect: "reads",
    run: () => ({ content: [{ type: "audio", data: "AAAA", mimeType: "audio/wav" }] }),
  }),
  tool({
    name: "chatter",
    title: "Chatter",
    description: "Prints to standard output, as a careless library would.",
    input: none,
    effect: "reads",
    run: () => {
      console.log("chatter by console");
      console.table([{ chatter: "table" }]);
      process.stdout.write("chatter by stream\n");
      return text("done");
    },
  }),
  tool({
    name: "spin",
    title: "Spin",
    description: "Answers with something that cannot be encoded.",
    input: none,
    effect: "reads",
    run: () => {
      const loop: Record<string, unknown> = {};
      loop.self = loop;
      return text("loop", loop);
    },
  }),
];

export const fixture: Dialect = {
  name: "fixture",
  title: "Fixture",
  summary: "for tests",
  prefix: "fx.",
  tools,
  wording: plainWording,
  instructions: "Be brief.",
  withoutRoots: "client-roots",
  failure(fault) {
    const message = say(plainWording, fault);
    if (Fault.is(fault, "denied")) return { error: { code: -32001, message, data: fault.data } };
    if (Fault.is(fault, "unknown_tool")) return { error: { code: -32601, message } };
    return { ...text(message), isError: true };
  },
};

export const fixtureOptions: ServerOptions = {
  dialect: fixture,
  engine: openEngine({ roots: [] }),
  settings: defaultSettings,
  info: { name: "fixture", title: "Fixture", version: "1.2.3" },
};
