// Forks of one tree with random edits, moves and deletions, merged back in random order. Every merge that the model
// allows succeeds with the model's result, and every other one is refused with the files in question. What is refused is
// rewritten in the fork and merged in a second step.
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Fault } from "../../src/engine/fault.ts";
import type { WorkspaceRecord } from "../../src/engine/workspaces/record.ts";
import { Fixture, treeOf } from "../../test/workspaces/fixture.ts";
import type { Trial } from "../suite.ts";
import {
  changeRandomly,
  copyOf,
  type ModelMerge,
  type ModelTree,
  mergeModel,
  newFile,
  printed,
  unique,
} from "./model.ts";

const filesInBase = 24;

export async function mergedBack(trial: Trial, forks: number): Promise<void> {
  const { chance, tally, say } = trial;
  const groups = Math.ceil(forks / 30);
  for (let group = 0; group < groups; group++) {
    const method = ([undefined, "link", "copy"] as const)[(group + chance.below(3)) % 3];
    await tally.attempt(`merge ${group} (${method ?? "the machine's method"})`, () =>
      oneTree(trial, method, Math.min(30, forks)),
    );
    say(`merge: ${(group + 1) * 30} forks`);
  }
}

async function oneTree(
  { chance, tally }: Trial,
  method: "link" | "copy" | undefined,
  forks: number,
): Promise<void> {
  using fixture = new Fixture(method);
  const start: ModelTree = new Map();
  for (let id = 0; id < filesInBase; id++)
    start.set(id, newFile(id, `${id % 3 === 0 ? "src/" : ""}f${id}.txt`));
  let ids = filesInBase;
  const base = fixture.files("base", printed(start));
  await fixture.workspaces.adopt("main", base, "");
  const all: { readonly record: WorkspaceRecord; readonly tree: ModelTree }[] = [];
  for (let i = 0; i < forks; i++) {
    const record = await fixture.workspaces.fork(`fork-${i}`, "main", "");
    const tree = copyOf(start);
    changeRandomly(tree, chance, `fork${i}`, () => ids++);
    write(record.root, start, tree);
    all.push({ record, tree });
  }
  let current = copyOf(start);
  for (const { record, tree } of chance.shuffled(all)) {
    const expected = mergeModel(start, tree, current);
    const refused = await conflictsOf(() => fixture.workspaces.merge(record, fixture.opener));
    check(refused, expected, tree, current, start);
    if (expected.conflicts.size === 0) {
      current = expected.result;
      tally.survived();
    } else {
      same(treeOf(base), printed(current), `${record.name} was refused and changed something`);
      if (![...expected.conflicts.values()].every(what => typeof what === "object")) continue;
      // Rewritten in the fork, with lines of both sides, it can be merged.
      const rewritten = copyOf(tree);
      for (const [id, lines] of expected.conflicts)
        for (const line of lines as readonly number[])
          (rewritten.get(id) as { lines: string[] }).lines[line] = `both ${unique()}`;
      write(record.root, tree, rewritten);
      const left = await conflictsOf(() => fixture.workspaces.merge(record, fixture.opener));
      if (left !== undefined) throw new Error(`${record.name}: refused again: ${JSON.stringify(left)}`);
      current = mergeModel(start, rewritten, current).result;
      tally.survived();
    }
    same(treeOf(base), printed(current), record.name);
    const rest = await fixture.workspaces.diff(record, fixture.opener);
    if (rest.length > 0)
      throw new Error(`${record.name} still differs after it was merged: ${rest.map(({ path }) => path)}`);
  }
}

/** Brings a fork's files from one state of the model to another, as programs do it: files are replaced, not written into. */
function write(root: string, from: ModelTree, to: ModelTree): void {
  for (const file of to.values()) {
    const before = from.get(file.id);
    const path = join(root, file.path);
    if (before !== undefined && !before.gone && file.gone) rmSync(join(root, before.path));
    if (file.gone) continue;
    mkdirSync(dirname(path), { recursive: true });
    if (before !== undefined && before.path !== file.path) renameSync(join(root, before.path), path);
    if (before?.lines.every((line, i) => line === file.lines[i])) continue;
    writeFileSync(`${path}.new`, `${file.lines.join("\n")}\n`);
    renameSync(`${path}.new`, path);
  }
}

async function conflictsOf(merge: () => Promise<unknown>) {
  try {
    await merge();
    return undefined;
  } catch (error) {
    if (!Fault.is(error, "merge_conflict")) throw error;
    return error.data.conflicts;
  }
}

/** Whether exactly the files are refused that the model refuses, each with both sides where it is about lines. */
function check(
  refused: Awaited<ReturnType<typeof conflictsOf>>,
  { conflicts }: ModelMerge,
  fork: ModelTree,
  theirs: ModelTree,
  base: ModelTree,
): void {
  const idOf = (path: string) =>
    [fork, theirs, base].flatMap(tree =>
      [...tree.values()].filter(file => file.path === path).map(({ id }) => id),
    )[0];
  const told = new Map((refused ?? []).map(conflict => [idOf(conflict.path), conflict]));
  const [got, wanted] = [[...told.keys()], [...conflicts.keys()]].map(list => JSON.stringify(list.sort()));
  if (got !== wanted)
    throw new Error(`refused ${got}, and the model refuses ${wanted}: ${JSON.stringify(refused)}`);
  for (const [id, lines] of conflicts) {
    const { fork: ours, base: others } = told.get(id) ?? {};
    if (typeof lines === "string") continue;
    for (const [shown, tree] of [
      [ours, fork],
      [others, theirs],
    ] as const) {
      const texts = new Set(shown?.map(({ text }) => text));
      const missing = lines.filter(line => !texts.has(tree.get(id)?.lines[line] ?? ""));
      if (missing.length > 0)
        throw new Error(`lines ${missing} of file ${id} are not shown: ${JSON.stringify(shown)}`);
    }
  }
}

function same(got: Record<string, string>, wanted: Record<string, string>, what: string): void {
  const names = [...new Set([...Object.keys(got), ...Object.keys(wanted)])].filter(
    name => !name.endsWith("/"),
  );
  const other = names.filter(name => got[name] !== wanted[name]);
  if (other.length > 0)
    throw new Error(
      `${what}: ${other
        .map(name => `${name} is ${JSON.stringify(got[name])}, not ${JSON.stringify(wanted[name])}`)
        .join("; ")
        .slice(0, 2000)}`,
    );
}
