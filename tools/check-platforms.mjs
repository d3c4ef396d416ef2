// Runs the round trip where polyfs works by other means than on Linux with /proc: with /proc hidden, on a file system
// that ignores case and Unicode form, and as a Windows program under Wine. What is unavailable here is reported, and is
// not a failure.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onFolding } from "./platforms/on-folding.mjs";
import { underWine } from "./platforms/under-wine.mjs";
import { withoutProc } from "./platforms/without-proc.mjs";

const program = join(dirname(fileURLToPath(import.meta.url)), "../dist/polyfs.cjs");
if (!existsSync(program)) await import("./build.mjs");
const wanted = process.argv.slice(2);
const places = {
  "without-proc": () => withoutProc(program),
  folding: () => onFolding(program),
  wine: underWine,
};
for (const [name, check] of Object.entries(places)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  try {
    console.log(`${name}: ${await check()}`);
  } catch (error) {
    process.exitCode = 1;
    console.log(`${name}: ${error instanceof Error ? error.message : error}`);
  }
}
