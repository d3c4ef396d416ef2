import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../src/engine/workspace/system/temporary-folder.ts";

it.skipIf(process.platform !== "linux")(
  "is removed with copies of any files: names in any bytes, read-only directories, links that lead out",
  () => {
    const folder = temporaryFolder();
    const below = (...name: readonly number[]) =>
      Buffer.concat([Buffer.from(`${folder.path}/`), Buffer.from(name)]);
    writeFileSync(below(0x6e, 0xff, 0xfe), "");
    mkdirSync(below(0xc3));
    writeFileSync(below(0xc3, 0x2f, 0x80), "");
    mkdirSync(join(folder.path, "read-only"));
    writeFileSync(join(folder.path, "read-only/file"), "");
    chmodSync(join(folder.path, "read-only"), 0o500);
    symlinkSync(import.meta.dirname, join(folder.path, "link"));
    folder[Symbol.dispose]();
    expect(existsSync(folder.path)).toBe(false);
    expect(existsSync(import.meta.filename)).toBe(true);
  },
);
