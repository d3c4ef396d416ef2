// Swaps a directory in the workspace with a symbolic link to one outside, as fast as it can.
import { existsSync, renameSync, symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";

const [, , base = ""] = process.argv;
const name = join(base, "inside/swap");
const away = join(base, "inside/real");
let i = 0;
for (; i % 64 !== 0 || !existsSync(join(base, "stop")); i++) {
  renameSync(name, away);
  insist(() => symlinkSync(join(base, "outside"), name));
  for (let spin = 0; spin < (i % 7) * 2000; spin++);
  unlinkSync(name);
  insist(() => renameSync(away, name));
  for (let spin = 0; spin < (i % 5) * 2000; spin++);
}
process.stdout.write(String(i));

/** The workspace may make a directory of that name in a moment when there is none: that is moved out of the way. */
function insist(action: () => void): void {
  for (let round = 0; ; round++) {
    try {
      action();
      return;
    } catch (error) {
      if (round > 100) throw error;
      if (existsSync(name)) renameSync(name, `${name}-made-${i}-${round}`);
    }
  }
}
