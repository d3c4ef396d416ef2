// What a process finds out about a directory of its own that it may not list, and a command could open up. Argument:
// the base of a Fixture.
import { chmodSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Policy } from "../../src/engine/policy/policy.ts";
import { compareTrees } from "../../src/engine/workspace/footprint/compare-trees.ts";
import { snapshotTree } from "../../src/engine/workspace/footprint/tree-snapshot.ts";
import { restrictedIn } from "../../src/engine/workspace/restricted.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";

const [, , base = ""] = process.argv;
const inside = join(base, "inside");
const denied = new Policy([{ paths: ["**/.env"], access: "deny" }]);
const workspace = Workspace.open([{ path: inside, access: "read-write" }], {
  state: join(base, "state"),
  rules: { current: () => [denied] },
});
const look = () => snapshotTree(workspace.roots, { maxEntries: 1000 });

async function changesBy(command: () => void): Promise<string[]> {
  const before = await look();
  command();
  const { changes } = await compareTrees(before, await look());
  return changes.map(({ change, path }) => `${change} ${path.slice(inside.length + 1)}`);
}

const closed = await changesBy(() => chmodSync(join(inside, "d"), 0o300));
const covered = (await restrictedIn(workspace)).map(({ handle, seen }) => [
  handle.whereabouts().slice(inside.length + 1),
  seen,
]);
const opened = await changesBy(() => chmodSync(join(inside, "d"), 0o700));
writeSync(1, JSON.stringify({ closed, covered, opened }));
process.exit();
