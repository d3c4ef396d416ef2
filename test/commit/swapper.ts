// Swaps a directory in the workspace with a symbolic link to one outside, as fast as it can.
import { existsSync, renameSync, symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";

const [, , base = ""] = process.argv;
const name = join(base, "inside/swap");
const away = join(base, "inside/real");
let i = 0;
for (; i % 64 !== 0 || !existsSync(join(base, "stop")); i++) {
  renameSync(name, away);
  symlinkSync(join(base, "outside"), name);
  for (let spin = 0; spin < (i % 7) * 2000; spin++);
  unlinkSync(name);
  try {
    renameSync(away, name);
  } catch {
    renameSync(name, `${name}-made-${i}`); // the workspace made a directory of that name in between
    renameSync(away, name);
  }
  for (let spin = 0; spin < (i % 5) * 2000; spin++);
}
process.stdout.write(String(i));
