// A process that records changes and gathers earlier ones, for tests that kill it or run several of it at once.
// Arguments: the state directory, and how many changes it keeps. It prints each id once the change is recorded.
import { writeSync } from "node:fs";
import { Archive } from "../../src/engine/workspace/archive/archive.ts";
import { atOnce } from "../../src/engine/workspace/footprint/time-slice.ts";

const [, , state = "", kept = ""] = process.argv;
const most = Number(kept);
const forever = Number.POSITIVE_INFINITY;
const { changes } = new Archive(state);

function record(id: string, text: string): void {
  changes.add({
    ...{ id, time: Date.now(), action: "write_file", client: "a", parents: [], kept: true },
    files: [{ at: `/${text}`, effect: "created", kind: "file" }],
  });
  writeSync(1, `${id}\n`);
}

for (;;) {
  const count = 1 + Math.floor(Math.random() * 400);
  for (const id of changes.newIds(count)) record(id, "x".repeat(Math.random() * 3000));
  const newest = changes.newestId();
  const late = newest && changes.idBetween(undefined, newest, Date.now() - 30_000);
  if (late) record(late, "late");
  if (Math.random() < 0.5) atOnce(changes.clear(most, forever));
  if (Math.random() < 0.7) await changes.gather(most, forever);
}
