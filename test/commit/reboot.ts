// Makes the journals of dead processes look as if the machine had been rebooted since.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Journal, readJournal } from "../../src/engine/workspace/commit/journal.ts";
import type { Fixture } from "./fixture.ts";

const anotherBoot = "00000000-0000-4000-8000-000000000000";

/** With `lost`, marks of that kind never reached the disk. */
export function reboot(fixture: Fixture, lost?: "done"): void {
  const processes = join(fixture.state, "processes");
  for (const name of readdirSync(processes)) rebootProcess(fixture, join(processes, name), lost);
}

function rebootProcess(fixture: Fixture, dead: string, lost: string | undefined): void {
  for (const name of readdirSync(dead).filter(name => name.startsWith("journal-"))) {
    const key = readFileSync(join(fixture.state, "key"));
    const records = readJournal(join(dead, name), key);
    const journal = new Journal(join(dead, name), records[0]?.generation ?? 1, key);
    for (const { body, blob } of records)
      if ((body as { is: string }).is !== lost)
        journal.append({ ...(body as object), boot: anotherBoot }, [blob]);
    journal.close();
  }
  const owner = join(dead, "owner");
  const identity = JSON.parse(readFileSync(owner, "utf8"));
  // Its heartbeat is fresh: a machine can be up again within seconds.
  writeFileSync(owner, JSON.stringify({ ...identity, world: `${anotherBoot} pid:[4026531836]` }));
}
