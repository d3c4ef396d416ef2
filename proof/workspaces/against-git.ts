// Random trees, changed in a fork and by others in the base, merged by the program and by git, half of them with files that
// are moved. What git merges, the program merges to the same tree; what git refuses, it refuses and changes nothing. Undo
// brings the base back.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../../src/engine/fault.ts";
import { undo } from "../../src/engine/history/undo.ts";
import { bytesOf } from "../../src/engine/workspace/handle.ts";
import type { MergeResult } from "../../src/engine/workspaces/merge.ts";
import { Fixture } from "../../test/workspaces/fixture.ts";
import type { Trial } from "../suite.ts";
import { changeTree, fillRandomly, type RandomTree, readTree } from "./random-tree.ts";

export async function againstGit({ chance, tally }: Trial, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    const method = ([undefined, "link", "copy"] as const)[chance.below(3)];
    const moves = i % 2 === 1;
    await tally.attempt(
      `git ${i} (${method ?? "the machine's method"}${moves ? ", moves" : ""})`,
      async () => {
        using fixture = new Fixture(method);
        const base = join(fixture.path, "base");
        fillRandomly(base, chance);
        await fixture.workspaces.adopt("main", base, "");
        const fork = await fixture.workspaces.fork("task", "main", "");
        const before = readTree(base);
        changeTree(fork.root, chance, { moves });
        changeTree(base, chance, { moves });
        const [ours, theirs] = [readTree(fork.root), readTree(base)];
        const wanted = mergedByGit(join(fixture.path, "git"), moves, [before, ours, theirs]);
        const { conflicts, change } = await merged(() => fixture.workspaces.merge(fork, fixture.opener));
        const got = readTree(base);
        const story = () => `\n${told("before", before)}${told("fork", ours)}${told("base", theirs)}`;
        if (conflicts !== undefined) {
          // Git has no directories, so it sees no conflict about one.
          const isAboutDirectory = (path: string) =>
            [ours, theirs].some(tree => tree[bytesOf(path)] === "directory");
          if (wanted !== undefined && !conflicts.some(({ path }) => isAboutDirectory(path)))
            throw new Error(`refused ${JSON.stringify(conflicts)}, git merges${story()}`);
          differences("a refused merge changed the base", got, theirs, story);
          return;
        }
        if (wanted === undefined) throw new Error(`merged, git refuses${story()}`);
        differences("not the result of git", withoutDirectories(got), wanted, story);
        if (change === undefined) return;
        const main = await fixture.workspaces.find("main");
        using workspace = fixture.workspaces.openTree(main, fixture.opener, "read-write");
        await undo(workspace, { change });
        differences("undo did not bring the base back", readTree(base), theirs, story);
      },
    );
  }
}

type MergeConflicts = readonly { readonly path: string; readonly reason: string }[];

async function merged(
  merge: () => Promise<MergeResult>,
): Promise<{ readonly conflicts?: MergeConflicts; readonly change?: string | undefined }> {
  try {
    return { change: (await merge()).change };
  } catch (error) {
    if (!Fault.is(error, "merge_conflict")) throw error;
    return { conflicts: error.data.conflicts };
  }
}

/** Undefined if git reports a conflict. Every side's files are unlike each other's, so nothing else looks moved. */
function mergedByGit(
  repository: string,
  renames: boolean,
  [before, ours, theirs]: readonly RandomTree[],
): RandomTree | undefined {
  mkdirSync(repository);
  const options = [`merge.renames=${renames}`, "merge.directoryRenames=false"].flatMap(one => ["-c", one]);
  const git = (args: readonly string[], input?: Buffer) =>
    spawnSync("git", [...options, ...args], {
      cwd: repository,
      ...(input && { input }),
      maxBuffer: 1 << 28,
    });
  git(["init", "-q", "--bare"]);
  const commits = [
    ["base", before, []],
    ["ours", ours, ["from refs/heads/base"]],
    ["theirs", theirs, ["from refs/heads/base"]],
  ] as const;
  const stream = commits.map(([name, tree, from]) => commit(name, tree ?? {}, from));
  execFileSync("git", ["fast-import", "--quiet"], { cwd: repository, input: Buffer.concat(stream) });
  const { status, stdout } = git(["merge-tree", "--write-tree", "ours", "theirs"]);
  if (status === 1) return undefined;
  if (status !== 0) throw new Error(`git merge-tree ended with ${status}`);
  return listed(git, stdout.toString().split("\n")[0] ?? "");
}

function commit(name: string, tree: RandomTree, from: readonly string[]): Buffer {
  const parts = [
    `commit refs/heads/${name}\ncommitter a <a@b> 0 +0000\ndata 0\n${from.join("\n")}\ndeleteall\n`,
  ];
  const buffers = [Buffer.from(parts.join(""))];
  for (const [path, what] of Object.entries(tree)) {
    if (what === "directory") continue;
    const [kind = ""] = what.split(" ", 1);
    const content = Buffer.from(what.slice(kind.length + 1), kind === "link" ? "utf8" : "latin1");
    const mode = kind === "link" ? "120000" : `100${kind}`;
    buffers.push(
      Buffer.from(`M ${mode} inline "${path}"\ndata ${content.length}\n`, "latin1"),
      content,
      Buffer.from("\n"),
    );
  }
  return Buffer.concat([...buffers, Buffer.from("\n")]);
}

function listed(git: (args: readonly string[]) => { readonly stdout: Buffer }, tree: string): RandomTree {
  const found: RandomTree = {};
  for (const line of git(["ls-tree", "-r", "-z", tree]).stdout.toString("latin1").split("\0")) {
    const [, mode, hash, path] = /^(\d+) blob (\w+)\t(.*)$/su.exec(line) ?? [];
    if (path === undefined || hash === undefined) continue;
    const content = git(["cat-file", "blob", hash]).stdout;
    found[path] =
      mode === "120000" ? `link ${content.toString()}` : `${mode?.slice(3)} ${content.toString("latin1")}`;
  }
  return found;
}

/** Git knows no directories. */
function withoutDirectories(tree: RandomTree): RandomTree {
  return Object.fromEntries(Object.entries(tree).filter(([, what]) => what !== "directory"));
}

function differences(what: string, got: RandomTree, wanted: RandomTree, story: () => string): void {
  const paths = [...new Set([...Object.keys(got), ...Object.keys(wanted)])];
  const other = paths.filter(path => got[path] !== wanted[path]);
  if (other.length > 0)
    throw new Error(
      `${what}: ${other.map(path => `${path} is ${brief(got[path])}, not ${brief(wanted[path])}`).join("; ")}${story()}`,
    );
}

function told(name: string, tree: RandomTree): string {
  return `  ${name}: ${Object.entries(tree)
    .map(([path, what]) => `${path}=${brief(what)}`)
    .join(" | ")}\n`;
}

function brief(what: string | undefined): string {
  return what === undefined
    ? "absent"
    : JSON.stringify(what.length > 60 ? `${what.slice(0, 40)}…${what.slice(-15)}` : what);
}
