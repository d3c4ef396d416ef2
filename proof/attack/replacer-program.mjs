// The attacker, a process of its own: as soon as the first, the second, ... of some directories is made in a place,
// puts a link under its name, until its input ends. Says when it is ready, and at the end how often it did.
//
//   node replacer-program.mjs PLACE COUNT TAKEN TARGET     the directories are named 000, 001, ...; TAKEN takes them
import { renameSync, symlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const [place, count, taken, target] = process.argv.slice(2);
const names = Array.from({ length: Number(count) }, (_, i) => `${place}/${String(i).padStart(3, "0")}`);
let replaced = 0;
let over = false;
process.stdin.on("end", () => {
  over = true;
});
process.stdin.resume();
process.stdout.write("ready\n");
while (!over) {
  // The first one announces the others.
  for (let i = 0, tries = 0; i < names.length && tries < 2000; tries++) {
    try {
      renameSync(names[i], `${taken}/${replaced}`);
      symlinkSync(target, names[i]);
      replaced++;
      i++;
      tries = 0;
    } catch {}
  }
  await sleep(0); // lets the end of the input be seen
}
process.stdout.write(String(replaced));
