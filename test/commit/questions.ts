// Questions about what others have done, asked by a process with few free descriptors. Prints, for each question, the
// answers with plenty of them, with 7, 6, … 0 free ones, and with plenty again. Argument: the base of a Fixture.
import { closeSync, openSync, utimesSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Policy } from "../../src/engine/policy/policy.ts";
import { walk } from "../../src/engine/search/walk.ts";
import { HiddenPlaces } from "../../src/engine/shell/hidden-places.ts";
import type { ChangeRecord } from "../../src/engine/workspace/archive/log.ts";
import { keyOf } from "../../src/engine/workspace/commit/key.ts";
import { openRecorded } from "../../src/engine/workspace/disk/held-directories.ts";
import { compareTrees } from "../../src/engine/workspace/footprint/compare-trees.ts";
import { runningSandboxes } from "../../src/engine/workspace/footprint/running-commands.ts";
import { snapshotTree } from "../../src/engine/workspace/footprint/tree-snapshot.ts";
import { Handle } from "../../src/engine/workspace/handle.ts";
import { restrictedIn } from "../../src/engine/workspace/restricted.ts";
import { claimsIn, clearClaims } from "../../src/engine/workspace/system/claim.ts";
import { treeDifference } from "../../src/engine/workspace/tree/tree-difference.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { WatchedFile } from "../../src/host/watched-file.ts";

const [, , base = ""] = process.argv;
const [inside, state, claims] = [join(base, "inside"), join(base, "state"), join(base, "claims")];
const grants = [{ path: inside, access: "read-write" }] as const;
const workspace = Workspace.open([...grants], { state });
const denied = new Policy([{ paths: ["**/.env"], access: "deny" }]);
const ruled = Workspace.open([...grants], { state, rules: { current: () => [denied] } });
const options = { maxEntries: 1000 };
const before = await snapshotTree(workspace.roots, options);
const top = Handle.open(inside);
const copy = Handle.open(join(base, "copy"));
const record = { at: join(inside, "d"), device: 0, inode: Handle.open(join(inside, "d")).stat().ino };
let asked = 0;
const watched = new WatchedFile(join(base, "watched"));

const newest = (): ChangeRecord | undefined => [...workspace.archive.changes.newest()][0];

/** What they answer has to be the same whenever they answer. */
const questions: Record<string, () => unknown> = {
  "the key of the journals": () => keyOf(state).toString("hex"),
  "the claims that processes hold": () => claimsIn(claims),
  "the claims that are left when those of dead processes are cleared": () => {
    clearClaims(claims);
    return claimsIn(claims);
  },
  "the directories that sandboxes show": () => runningSandboxes(state).map(({ roots }) => roots),
  "what a sandbox must cover": async () => {
    const found = await restrictedIn(ruled);
    const shown = found.map(({ handle, seen }) => [handle.whereabouts(), seen]);
    for (const one of found) one[Symbol.dispose]();
    return shown;
  },
  "the places that are hidden from commands": () => {
    using hidden = new HiddenPlaces([join(base, "secret")]);
    return hidden.found().length;
  },
  "what a command has removed": async () => {
    const after = await snapshotTree(workspace.roots, options);
    const { changes, complete } = await compareTrees(before, after);
    if (!complete && changes.length === 0) throw new Error("incomplete");
    return changes.map(({ path }) => path);
  },
  "what differs between a fork and its base": () => treeDifference(top, copy, { untouched: () => false }),
  "the newest change": () => newest()?.id,
  "a content by its hash": () =>
    workspace.archive.objects
      .get(String((newest()?.files[0]?.after as { hash?: string } | undefined)?.hash))
      ?.toString(),
  "a directory that a journal names": () => {
    using handle = openRecorded(record, false);
    return handle !== undefined;
  },
  "the files that ignore rules let through": async () => {
    const found: string[] = [];
    using start = workspace.directory(workspace.at("d"));
    const walked = walk(start, { ignore: { rules: true, hidden: true } });
    for await (const { path } of walked) found.push(path);
    return found.sort();
  },
  "a file that changes, asked for until it was read once more": () => {
    if (++asked <= 9) utimesSync(watched.path, asked, asked);
    return watched.changed()?.text;
  },
};

async function told(question: () => unknown): Promise<string> {
  try {
    return JSON.stringify(await question()) ?? "undefined";
  } catch (error) {
    return `failed: ${(error as { code?: string }).code ?? error}`;
  }
}

async function withFree(count: number, question: () => unknown): Promise<string> {
  const taken: number[] = [];
  try {
    for (;;) taken.push(openSync("/dev/null", "r"));
  } catch {
    for (const fd of taken.splice(0, count)) closeSync(fd);
  }
  try {
    return await told(question);
  } finally {
    for (const fd of taken) closeSync(fd);
  }
}

for (const [name, question] of Object.entries(questions)) {
  const plenty = await told(question);
  const few: string[] = [];
  for (let free = 7; free >= 0; free--) few.push(await withFree(free, question));
  writeSync(1, `${JSON.stringify({ name, plenty, few, after: await told(question) })}\n`);
}
process.exit();
