// The attacker, a process of its own: in a directory that polyfs serves, puts something harmless and a symlink that
// leads outside under one name by turns, as fast as it can, until its input ends. Says when it is ready, and at the
// end how often it swapped.
//
//   node swapper-program.mjs NAME LINK TARGET     NAME is what is there, LINK a free name beside it; with `pipe` as
//                                                 the target, LINK is a named pipe
import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const [name, link, target] = process.argv.slice(2);
const isDirectory = lstatSync(name).isDirectory();
const parked = `${link}-parked`;
makeLink();
let swaps = 0;
let over = false;
process.stdin.on("end", () => {
  over = true;
});
process.stdin.resume();
process.stdout.write("ready\n");
while (!over) {
  for (let i = 0; i < 200; i++) {
    swap(name, parked);
    swap(link, name);
    wait((i % 7) * 300);
    swap(name, link);
    swap(parked, name);
    wait((i % 5) * 300);
  }
  await sleep(0); // lets the end of the input be seen
}
process.stdout.write(String(swaps));

/**
 * A tool may make something under the name in the moment when it is free: that is moved out of the way. It may also
 * delete or move what is swapped: then there is another.
 */
function swap(from, to) {
  for (let round = 0; round < 50; round++) {
    try {
      renameSync(from, to);
      swaps++;
      return;
    } catch (error) {
      attempt(() => renameSync(to, `${link}-made-${swaps}-${round}`));
      if (error.code === "ENOENT") attempt(() => make(from));
    }
  }
}

function make(path) {
  mkdirSync(dirname(path), { recursive: true });
  if (path === link) return makeLink();
  if (!isDirectory) return writeFileSync(path, "PUBLIC\nSECRET\n", { flag: "wx" });
  mkdirSync(path);
  mkdirSync(join(path, "sub"));
  for (const file of ["secret.txt", "sub/secret.txt"])
    writeFileSync(join(path, file), "PUBLIC\nSECRET\n", { flag: "wx" });
}

function makeLink() {
  if (target === "pipe") execFileSync("mkfifo", [link]);
  else symlinkSync(target, link);
}

function attempt(action) {
  try {
    action();
  } catch {}
}

function wait(turns) {
  for (let turn = 0; turn < turns; turn++);
}
