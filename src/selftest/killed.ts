// Kills servers in the middle of changes to several files: afterwards all files are old or all are new, nothing
// temporary is left, and undo reverts everything.
import { setTimeout as pause } from "node:timers/promises";
import type { Fixture } from "./fixture.ts";
import type { Section } from "./section.ts";
import type { ServedProgram } from "./served-program.ts";

const files = Array.from({ length: 6 }, (_, i) => `many/f${i}.txt`);
const original = "version 0\n";

export async function killed(
  section: Section,
  fixture: Fixture,
  start: () => Promise<ServedProgram>,
  rounds: number,
): Promise<void> {
  for (const file of files) fixture.write(file, original);
  for (let round = 1; round <= rounds; round++) {
    const victim = await start();
    let version = round * 1000;
    const going = (async () => {
      for (;;) {
        const now = fixture.text(files[0] ?? "").trim();
        const change = { paths: ["many"], old: now, new: `version ${++version}` };
        await victim.call("replace_in_files", change);
      }
    })();
    going.catch(() => {});
    await pause(50 + Math.random() * 400);
    // On a slow machine nothing has happened yet, and there would be nothing to undo.
    for (let i = 0; round === 1 && i < 200 && fixture.text(files[0] ?? "") === original; i++) await pause(50);
    await victim.kill();
    const next = await start();
    await next.call("read_file", { path: files[0] }); // the next server settles what was left
    await settled(fixture);
    const found = new Set(files.map(file => fixture.text(file)));
    section.holds(`kill ${round}: all files are of one version`, found.size === 1, [...found].join(""));
    section.holds(`kill ${round}: the version is whole`, /^version \d+\n$/.test([...found][0] ?? ""));
    const left = temporary(fixture);
    section.holds(`kill ${round}: nothing temporary is left`, left.length === 0, left.join(", "));
    await next.end();
  }
  const last = await start();
  const told = await last.call("undo", { since: "8h", path: "many" });
  section.holds("every change can be undone", told.startsWith("undid"), told);
  section.holds(
    "undo brings back the original",
    files.every(file => fixture.text(file) === original),
  );
  await last.end();
}

/** Temporary files are removed in the background. */
async function settled(fixture: Fixture): Promise<void> {
  for (let i = 0; i < 50; i++) {
    if (temporary(fixture).length === 0) return;
    await pause(100);
  }
}

/** Of these changes only: where directories were swapped in the race, a server without /proc may leave one behind. */
function temporary(fixture: Fixture): string[] {
  return Object.keys(fixture.tree()).filter(name => name.startsWith("many/") && name.includes(".polyfs-"));
}
