// Files of the user that are read with every walk, such as a global ignore file, and are not read again while they
// stay the same.
import { mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { readSmallFile } from "../../src/engine/workspace/system/named-file.ts";

it("a changed file is read again, also if its size and its time of modification are the same", async () => {
  const base = mkdtempSync(join(tmpdir(), "polyfs-small-file-"));
  try {
    const at = join(base, "ignore");
    const write = (text: string) => {
      writeFileSync(at, text);
      utimesSync(at, 1, 1);
    };
    const read = (most = 100) => readSmallFile(at, most)?.text;
    write("one\n");
    expect(read()).toBe("one\n");
    await sleep(2100); // its times count from here on
    const first = readSmallFile(at, 100);
    expect(readSmallFile(at, 100)).toBe(first);
    expect(read(2)).toBe("on");
    write("two\n");
    expect(read()).toBe("two\n");
    await sleep(2100);
    expect(read()).toBe("two\n");
    renameSync(at, join(base, "other"));
    expect(read()).toBeUndefined();
    writeFileSync(join(base, "third"), "three\n");
    symlinkSync("third", at);
    expect(read()).toBe("three\n");
    expect(readSmallFile(at, 100)?.path()).toMatch(/third$/);
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
});
