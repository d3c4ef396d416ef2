// The program that users start, over the wire: enough to know that it is the protocol of these tests that it speaks.
import { describe, expect, it } from "vitest";
import { envelope } from "./in-process.ts";
import { start } from "./wire.ts";

describe("polyfs", () => {
  it.each([
    ["legacy", undefined],
    ["modern", envelope()],
  ])("lists its tools in the %s era and leaves with its client", async (_, _meta) => {
    const wire = await start({ dialect: "fs", roots: [import.meta.dirname] });
    const { result } = await wire.request("tools/list", { _meta });
    expect(result).toMatchObject({
      tools: expect.arrayContaining([expect.objectContaining({ name: "fs.read_file" })]),
    });
    wire.input.end();
    expect(await wire.exited()).toEqual({ code: 0, signal: null });
    expect(wire.garbage).toEqual([]);
  });
});
