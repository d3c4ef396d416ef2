// Large messages on their way out: in pieces, in order, and the same JSON as if they had been encoded whole.
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { jsonParts } from "../../src/mcp/json-parts.ts";
import { type Frame, LargeText, resultFrame, wholeText } from "../../src/mcp/jsonrpc.ts";
import { MessageWriter } from "../../src/mcp/message-writer.ts";

const large = '"a line\twith \\ and 漢\n'.repeat(20_000);

function result(text: string) {
  return {
    content: [
      { type: "text", text: "small" },
      { type: "text", text },
      { type: "image", data: "aGk=", mimeType: "image/png" },
    ],
    structuredContent: {
      results: [
        { path: "a", content: text },
        { path: "b", content: undefined, list: [undefined, null, 1.5, true] },
      ],
      none: [],
      empty: {},
      deep: { a: { b: { c: { d: [1, { e: "x" }] } } } },
      many: Array.from({ length: 500 }, (_, i) => ({ i })),
    },
    isError: undefined,
    _meta: { 'odd "key"': 1 },
  };
}

describe("the parts of a result", () => {
  it("add up to the JSON of the whole", () => {
    for (const text of [large, "small", ""]) {
      expect(wholeText(resultFrame("1", jsonParts(result(text))))).toBe(
        `{"jsonrpc":"2.0","id":1,"result":${JSON.stringify(result(text))}}`,
      );
    }
  });

  it("leave each large text to be encoded when it is written", () => {
    const parts = jsonParts(result(large));
    expect(typeof parts === "string" ? 0 : parts.filter(part => part instanceof LargeText).length).toBe(2);
    expect(jsonParts(result("small"))).toBeTypeOf("string");
  });
});

describe("a large text", () => {
  const places: Record<string, Record<string, unknown>> = {
    "in a text item": { content: [{ type: "text", text: large }] },
    "in an image": { content: [{ type: "image", data: large, mimeType: "image/png" }] },
    "in a resource": { content: [{ type: "resource", resource: { uri: "file:///a", blob: large } }] },
    "in a resource that was read": { contents: [{ uri: "file:///a", text: large }] },
  };
  for (const [place, whole] of Object.entries(places)) {
    it(`${place} is found`, () => {
      const parts = jsonParts(whole);
      expect(parts).not.toBeTypeOf("string");
      expect(wholeText(resultFrame("1", parts))).toContain(JSON.stringify(whole));
    });
  }
});

describe("an output", () => {
  it("gives large and small messages in the order in which they were sent, to a client that reads slowly", async () => {
    const stream = new PassThrough();
    const output = new MessageWriter(stream, () => {});
    const frames: Frame[] = [
      ["1"],
      resultFrame("2", jsonParts(result(large))),
      ["3"],
      resultFrame("4", jsonParts(result(large))),
      [JSON.stringify(large)],
      ["6"],
    ];
    for (const frame of frames) output.send(frame);
    // What is not written yet is not encoded yet, and still counts as pending.
    expect(output.pending).toBeGreaterThan(4 * large.length);
    expect(stream.writableLength + stream.readableLength).toBeLessThan(large.length);
    const finished = output.finished().then(() => stream.end());
    const chunks: Buffer[] = [];
    for await (const chunk of stream) {
      chunks.push(chunk);
      await new Promise(resolve => setImmediate(resolve));
    }
    await finished;
    expect(Buffer.concat(chunks).toString()).toBe(frames.map(frame => `${wholeText(frame)}\n`).join(""));
    expect(output.pending).toBe(0);
  });

  it("releases everything when its client disconnects in the middle of a large message", async () => {
    const stream = new PassThrough();
    let gone = 0;
    const output = new MessageWriter(stream, () => gone++);
    output.send(resultFrame("1", jsonParts(result(large))));
    output.send(["2"]);
    const finished = output.finished();
    stream.destroy(new Error("EPIPE"));
    await finished;
    output.send(["3"]);
    expect(gone).toBe(1);
    expect(output.pending).toBeLessThan(large.length);
  });
});
