// `git merge-file` as an oracle: several files at once, since a process each would take most of the time.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Outcome, refused } from "./exact.ts";

export class Git {
  readonly #dir = mkdtempSync(join(tmpdir(), "polyfs-merge-"));
  #count = 0;

  /** What git makes of it: the text, or a refusal where it has conflicts. */
  async merged(base: string, ours: string, theirs: string): Promise<Outcome> {
    const id = this.#count++ % 64;
    const files = [ours, base, theirs].map((text, i) => {
      const file = join(this.#dir, `${id}-${i}`);
      writeFileSync(file, text);
      return file;
    });
    const child = spawn("git", ["merge-file", "-p", "-q", ...files], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const parts: Buffer[] = [];
    child.stdout.on("data", (part: Buffer) => parts.push(part));
    const code = await new Promise<number | null>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", resolve);
    });
    if (code === null || code > 127) throw new Error(`git merge-file ended with ${code}`);
    return code === 0 ? Buffer.concat(parts).toString() : refused;
  }

  [Symbol.dispose](): void {
    rmSync(this.#dir, { recursive: true, force: true });
  }
}
