// A state directory with planted journals, as a program that once had access can leave them: in every kind
// of directory, under every kind of name, authentic or not. The server that starts over it does nothing outside its
// root, and never acts on a journal that is not authentic.
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deedsAt, namesTo, plant } from "../../test/commit/planted.ts";
import { end, ServerUnderTest, told } from "../fault/server-under-test.ts";
import type { Trial } from "../suite.ts";

export async function attackByHostileState({ tally, chance, long }: Trial): Promise<void> {
  if (!tally.wants("A160")) return;
  await using server = new ServerUnderTest({ victim: "inside", "sub/x": "x" });
  const outside = mkdtempSync(join(tmpdir(), "polyfs-outside-"));
  try {
    writeFileSync(join(outside, "victim"), "outside");
    mkdirSync(join(server.base, "beside"));
    writeFileSync(join(server.base, "beside/victim"), "outside");
    const first = await server.serve();
    await told(first, "write_file", { path: "opened", content: "opens the state" });
    await end(first, "SIGTERM");
    const key = readFileSync(join(server.state, "key"));
    const before = JSON.stringify([server.tree(), victims(server, outside)]);
    const cases = [
      ...[outside, join(server.base, "beside"), server.base, server.state].flatMap(place =>
        ["victim", "new"].flatMap(name => deedsAt(place, name).map(deed => ({ deed, key }))),
      ),
      ...namesTo("beside", "victim").flatMap(name => deedsAt(server.root, name).map(deed => ({ deed, key }))),
      ...["victim", "new"].flatMap(name =>
        deedsAt(server.root, name).map(deed => ({ deed, key: randomBytes(32) })),
      ),
    ];
    for (const { deed, key: used } of long ? cases : chance.shuffled(cases).slice(0, 12)) {
      await tally.attempt(`A160 (a planted journal: ${deed.story})`, async () => {
        plant(server.state, deed, used);
        const wire = await server.serve();
        await told(wire, "list_directory", {});
        await end(wire, "SIGTERM");
        const after = JSON.stringify([server.tree(), victims(server, outside)]);
        if (after !== before) throw new Error(`it is ${after}, not ${before}`);
      });
    }
  } finally {
    rmSync(outside, { recursive: true, force: true });
  }
}

function victims(server: ServerUnderTest, outside: string): string[] {
  return [outside, join(server.base, "beside")].map(directory => {
    try {
      return readFileSync(join(directory, "victim"), "utf8");
    } catch (error) {
      return String(error);
    }
  });
}
