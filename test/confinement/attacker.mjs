// The attacker, as a process of its own: swaps a directory and a symlink that leads outside under one name, as
// fast as it can, until it is told to stop. Prints how often it swapped.
import { renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";

const [root, outside, milliseconds] = process.argv.slice(2);
const [name, parked, link] = ["flip", ".parked", ".link"].map(part => join(root, part));
symlinkSync(outside, link);
const end = Date.now() + Number(milliseconds);
let swaps = 0;
while (Date.now() < end) {
  for (let i = 0; i < 100; i++) {
    renameSync(name, parked);
    renameSync(link, name);
    renameSync(name, link);
    renameSync(parked, name);
    swaps += 2;
  }
}
process.stdout.write(String(swaps));
