import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { atExit } from "../../src/engine/at-exit.ts";
import { Presence } from "../../src/review/presence.ts";

it("any number of review pages adds one listener to the process", () => {
  const state = mkdtempSync(join(tmpdir(), "polyfs-exit-"));
  try {
    atExit(() => {});
    const before = process.listenerCount("exit");
    const pages = Array.from({ length: 20 }, () => new Presence(state));
    expect(process.listenerCount("exit")).toBe(before);
    for (const page of pages) page[Symbol.dispose]();
  } finally {
    rmSync(state, { recursive: true });
  }
});
