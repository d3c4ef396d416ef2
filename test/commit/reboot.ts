// Makes the journals of dead processes look as if the machine had been rebooted since, or the disk mounted again.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Journal, readJournal } from "../../src/engine/workspace/commit/journal.ts";
import type { JournalEntry } from "../../src/engine/workspace/commit/journalled-commit.ts";
import type { DirectoryRecord } from "../../src/engine/workspace/disk/held-directories.ts";
import type { Fixture } from "./fixture.ts";

const anotherBoot = "00000000-0000-4000-8000-000000000000";

/** With `lost`, marks of that kind never reached the disk. */
export function reboot(fixture: Fixture, lost?: "done"): void {
  const processes = join(fixture.state, "processes");
  for (const name of readdirSync(processes)) rebootProcess(fixture, join(processes, name), lost);
}

/** The device has another number since; on another disk, the directories are others, too. */
export function mountAgain(fixture: Fixture, disk?: "another disk"): void {
  const processes = join(fixture.state, "processes");
  const elsewhere = (place: DirectoryRecord) =>
    "at" in place && !place.aside
      ? { ...place, device: place.device + 1, born: (place.born ?? 0) - (disk === undefined ? 0 : 1) }
      : place;
  if (!existsSync(processes)) return; // it was killed before it had a journal
  for (const name of readdirSync(processes))
    rewrite(fixture, join(processes, name), body =>
      "places" in body ? { ...body, places: body.places.map(elsewhere) } : body,
    );
}

type Body = { readonly is: string } | Pick<JournalEntry, "is" | "places">;

/** Those for which `change` returns nothing are left out. */
function rewrite(fixture: Fixture, dead: string, change: (body: Body) => object | undefined): void {
  for (const name of readdirSync(dead).filter(name => name.startsWith("journal-"))) {
    const key = readFileSync(join(fixture.state, "key"));
    const records = readJournal(join(dead, name), key);
    const journal = new Journal(join(dead, name), records[0]?.generation ?? 1, key);
    for (const { body, blob } of records) {
      const changed = change(body as Body);
      if (changed !== undefined) journal.append(changed, [blob]);
    }
    journal.close();
  }
}

function rebootProcess(fixture: Fixture, dead: string, lost: string | undefined): void {
  rewrite(fixture, dead, body => (body.is === lost ? undefined : { ...body, boot: anotherBoot }));
  const owner = join(dead, "owner");
  const identity = JSON.parse(readFileSync(owner, "utf8"));
  // Its heartbeat is fresh: a machine can be up again within seconds.
  writeFileSync(owner, JSON.stringify({ ...identity, world: `${anotherBoot} pid:[4026531836]` }));
}
