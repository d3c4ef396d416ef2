// A directory of numbered links that all lead to one place, for programs that take many sources and one target
// directory. It is made once, in the user's temporary directory, and removed with the process.
import { mkdtempSync, rmdirSync, symlinkSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Links named `from` to `to`, both included. */
export function linkFarm(from: number, to: number, target: string): string {
  const path = mkdtempSync(join(tmpdir(), "polyfs-links-"));
  const names = Array.from({ length: to - from + 1 }, (_, i) => join(path, String(from + i)));
  for (const name of names) symlinkSync(target, name);
  process.once("exit", () => {
    try {
      for (const name of names) unlinkSync(name);
      rmdirSync(path);
    } catch {
      // Somebody has tidied up the temporary files.
    }
  });
  return path;
}
