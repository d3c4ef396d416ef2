// Trees for measuring: the same for every run, in a temporary directory that is removed at the end.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class GeneratedTree implements Disposable {
  readonly path: string;

  /** `count` files in up to 2,000 directories, every other one ignored; all hold "compute", few "needle". */
  constructor(count: number) {
    this.path = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-bench-")));
    writeFileSync(join(this.path, ".gitignore"), "generated/\n*.log\n");
    for (let i = 0; i < count; i++) {
      const top = i % 2 === 0 ? "src" : "generated";
      const directory = join(this.path, top, `part${i % 40}`, `group${Math.floor(i / 40) % 50}`);
      if (i < 40 * 50) mkdirSync(directory, { recursive: true });
      const lines = Array.from(
        { length: 40 },
        (_, n) => `export const value${n} = compute(${i}, ${n * 7}); // line ${n}`,
      );
      if (i % 997 === 0) lines.push("the needle in the haystack");
      writeFileSync(join(directory, `file${i}.${i % 10 < 7 ? "ts" : "md"}`), `${lines.join("\n")}\n`);
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
