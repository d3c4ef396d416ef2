// The tools that the official conformance suite looks for, as a dialect. Those that ask the client back are listed
// here and answered in rounds.ts: no contract of ours does that yet.
import { setTimeout as sleep } from "node:timers/promises";
import type { Dialect } from "../../../src/contract/dialect.ts";
import { type Content, text, tool } from "../../../src/contract/tool.ts";
import { plainWording, say } from "../../../src/contract/wording.ts";
import { Fault } from "../../../src/engine/fault.ts";
import { rounds } from "./rounds.ts";

const none = { type: "object", properties: {} } as const;

/** One red pixel, and a sound of no length. */
export const image = {
  type: "image",
  mimeType: "image/png",
  data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==",
} as const;
const audio = {
  type: "audio",
  mimeType: "audio/wav",
  data: "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQAAAAA=",
} as const;

const contents: Readonly<Record<string, readonly Content[]>> = {
  test_simple_text: [{ type: "text", text: "This is a simple text response for testing." }],
  test_image_content: [image],
  test_audio_content: [audio],
  test_embedded_resource: [
    {
      type: "resource",
      resource: {
        uri: "test://embedded-resource",
        mimeType: "text/plain",
        text: "This is an embedded resource content.",
      },
    },
  ],
  test_multiple_content_types: [
    { type: "text", text: "Multiple content types test:" },
    image,
    {
      type: "resource",
      resource: {
        uri: "test://mixed-content-resource",
        mimeType: "application/json",
        text: JSON.stringify({ test: "data", value: 123 }),
      },
    },
  ],
};

const plain = Object.entries(contents).map(([name, content]) =>
  tool({ name, title: name, description: name, input: none, effect: "reads", run: () => ({ content }) }),
);

const failing = tool({
  name: "test_error_handling",
  title: "Fail",
  description: "Always fails.",
  input: none,
  effect: "reads",
  run: () => {
    throw new Fault("invalid_argument", { message: "This tool intentionally returns an error for testing" });
  },
});

const progressing = tool({
  name: "test_tool_with_progress",
  title: "Progress",
  description: "Tells its progress.",
  input: none,
  effect: "reads",
  run: async (_, { progress }) => {
    for (const done of [0, 50, 100]) {
      if (done > 0) await sleep(120);
      progress(done, 100);
    }
    return text("done");
  },
});

const asking = Object.keys(rounds).map(name =>
  tool({
    name,
    title: name,
    description: name,
    input: { type: "object", properties: { prompt: { type: "string" }, message: { type: "string" } } },
    effect: "reads",
    run: () => {
      throw new Fault("internal", { message: "answered elsewhere" });
    },
  }),
);

export const everything: Dialect = {
  name: "everything",
  title: "Everything",
  summary: "for the conformance suite",
  tools: [...plain, failing, progressing, ...asking],
  wording: plainWording,
  withoutRoots: "none",
  failure(fault) {
    const message = say(plainWording, fault);
    return Fault.is(fault, "unknown_tool")
      ? { error: { code: -32602, message } }
      : { ...text(message), isError: true };
  },
};
