// Random trees in which several users own directories and files, with all kinds of modes. A call of one of them, of root,
// of root without its capabilities, or of the root of a user namespace is refused and leaves everything as it is, or it is done, leaves nothing under a
// temporary name, and undo brings the tree back.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { isTemporaryName } from "../../src/engine/workspace/disk/temporary.ts";
import type { Chance } from "../chance.ts";
import type { Trial } from "../suite.ts";
import { ServerUnderTest, told } from "./server-under-test.ts";

const own = 1000;
const others = [1001, 1002];
const directoryModes = [0o755, 0o755, 0o777, 0o1777, 0o1777, 0o1777, 0o555, 0o700, 0o2755];
const fileModes = [0o644, 0o644, 0o600, 0o666, 0o444];

const as: Readonly<Record<string, { user: number; before: readonly string[] }>> = {
  "a user": {
    user: own,
    before: ["setpriv", `--reuid=${own}`, `--regid=${own}`, "--clear-groups"],
  },
  "root without capabilities": { user: 0, before: ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] },
  root: { user: 0, before: [] },
  "root of a user namespace": {
    user: own,
    before: ["setpriv", `--reuid=${own}`, `--regid=${own}`, "--clear-groups", "unshare", "-Ur"],
  },
};

const calls: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  delete_path: { path: "t", recursive: true },
  move_path: { from: "t", to: "disk/t" },
};

export async function removeTreesOfUsers({ tally, chance, long }: Trial): Promise<void> {
  if (!tally.wants("R141")) return;
  if (process.getuid?.() !== 0) return tally.skipped("R141", "needs root, to be several users");
  for (const [who, { user, before }] of Object.entries(as)) {
    await using server = new ServerUnderTest();
    const disk = join(server.root, "disk");
    mkdirSync(disk);
    if (spawnSync("mount", ["-t", "tmpfs", "-o", `uid=${user},gid=${user}`, "tmpfs", disk]).status !== 0)
      return tally.skipped("R141", "needs permission to mount");
    try {
      for (const path of [server.base, server.root]) chownSync(path, user, user);
      const wire = await server.serve({ before }).catch(() => undefined);
      if (wire === undefined) {
        tally.skipped(`R141 (${who})`, "needs setpriv, and a program that other users may read");
        continue;
      }
      for (let round = 0; round < (long ? 300 : 15); round++) {
        const tool = chance.pick(Object.keys(calls));
        const tree = join(server.root, "t");
        plant(tree, user, chance);
        const earlier = look(server.root);
        await tally.attempt(`R141 (${who}: ${tool}, round ${round}: ${listed(earlier)})`, async () => {
          const answer = await told(wire, tool, calls[tool]).then(() => "done", String);
          await told(wire, "list_changes", {}); // once it is recorded
          const later = look(server.root);
          const left = [...later.keys()].filter(path => path.split("/").some(isTemporaryName));
          if (left.length > 0) throw new Error(`left behind: ${left.join(", ")} (${answer})`);
          if (answer !== "done") return same(later, earlier, `refused and done: ${answer}`);
          if (later.has("t")) throw new Error("done, and still there");
          await told(wire, "undo", {});
          same(withoutOwners(look(server.root)), withoutOwners(earlier), "undo does not restore it");
        });
        for (const path of [tree, join(disk, "t")]) rmSync(path, { recursive: true, force: true });
        for (const name of readdirSync(server.root))
          if (isTemporaryName(name)) rmSync(join(server.root, name), { recursive: true });
      }
    } finally {
      spawnSync("umount", ["-l", disk]);
    }
  }
}

/** Its top belongs to the caller. */
function plant(at: string, user: number, chance: Chance): void {
  const entries: { path: string; owner: number; mode: number }[] = [];
  const add = (path: string, depth: number) => {
    const isTop = depth === 0;
    const owner = isTop || chance.below(2) === 0 ? user : chance.pick(others);
    const isFile = !isTop && chance.below(3) === 0;
    if (isFile) writeFileSync(path, `${chance.below(1000)}\n`);
    else {
      mkdirSync(path);
      for (let i = chance.below(4); i > 0 && depth < 4; i--) add(join(path, `e${i}`), depth + 1);
    }
    entries.push({ path, owner, mode: isTop ? 0o755 : chance.pick(isFile ? fileModes : directoryModes) });
  };
  add(at, 0);
  for (const { path, owner, mode } of entries) {
    chownSync(path, owner, owner);
    chmodSync(path, mode);
  }
}

/** Every path with its mode, its owner, and its content. */
function look(root: string): Map<string, { mode: number; owner: number; text: string }> {
  const found = new Map<string, { mode: number; owner: number; text: string }>();
  const visit = (prefix: string) => {
    for (const name of readdirSync(join(root, prefix)).sort()) {
      const path = join(prefix, name);
      const stat = lstatSync(join(root, path));
      const text = stat.isDirectory() ? "/" : readFileSync(join(root, path), "utf8");
      found.set(path, { mode: stat.mode & 0o7777, owner: stat.uid, text });
      if (stat.isDirectory()) visit(path);
    }
  };
  visit("");
  return found;
}

function same(found: ReturnType<typeof look>, expected: ReturnType<typeof look>, why: string): void {
  const [a, b] = [found, expected].map(tree => JSON.stringify([...tree]));
  if (a !== b) throw new Error(`${why}\n  ${a}\n  ${b}`);
}

function withoutOwners(tree: ReturnType<typeof look>): ReturnType<typeof look> {
  return new Map([...tree].map(([path, entry]) => [path, { ...entry, owner: 0 }]));
}

function listed(tree: ReturnType<typeof look>): string {
  return [...tree]
    .map(([path, { mode, owner, text }]) => `${path}${text === "/" ? "/" : ""} ${mode.toString(8)} ${owner}`)
    .join(", ");
}
