// Forks of one tree with random edits, moves and deletions, merged back in random order. Every merge that the model
// allows succeeds with the model's result, and every other one is refused with the files in question and what
// each side did to them. What is refused is
// rewritten in the fork and merged in a second step.
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Fault, type MergeConflict } from "../../src/engine/fault.ts";
import type { WorkspaceRecord } from "../../src/engine/workspaces/record.ts";
import { Fixture, treeOf } from "../../test/workspaces/fixture.ts";
import type { Trial } from "../suite.ts";
import {
  changeRandomly,
  copyOf,
  type ModelFile,
  type ModelMerge,
  type ModelTree,
  mergeModel,
  newFile,
  printed,
  unique,
} from "./model.ts";

const filesInBase = 24;

/** All forks of one tree. The tree is large enough that most of what they do can be merged. */
export async function oneTreeMergedBack(trial: Trial, forks: number): Promise<void> {
  await trial.tally.attempt(`one tree, ${forks} forks`, async () => {
    const counts = await oneTree(trial, undefined, { forks, files: Math.ceil(forks * 0.4) });
    const { merged, refused, rewritten, kept } = counts;
    trial.say(
      `one tree: ${forks} forks; ${merged} merged at once; ${refused} refused, ` +
        `of which ${rewritten} rewritten and merged, ${kept} kept in their forks`,
    );
  });
}

export async function mergedBack(trial: Trial, forks: number): Promise<void> {
  const { chance, tally, say } = trial;
  const groups = Math.ceil(forks / 30);
  for (let group = 0; group < groups; group++) {
    const method = ([undefined, "link", "copy"] as const)[(group + chance.below(3)) % 3];
    await tally.attempt(`merge ${group} (${method ?? "the machine's method"})`, () =>
      oneTree(trial, method, { forks: Math.min(30, forks), files: filesInBase }),
    );
    say(`merge: ${(group + 1) * 30} forks`);
  }
}

interface MergeCounts {
  merged: number;
  refused: number;
  /** Of those that were refused: rewritten in the fork, and merged then. */
  rewritten: number;
  /** Of those that were refused: left as they are, because one side moved or deleted what the other changed. */
  kept: number;
}

async function oneTree(
  { chance, tally, say }: Trial,
  method: "link" | "copy" | undefined,
  { forks, files }: { readonly forks: number; readonly files: number },
): Promise<MergeCounts> {
  using fixture = new Fixture(method);
  const start: ModelTree = new Map();
  for (let id = 0; id < files; id++) start.set(id, newFile(id, `${id % 3 === 0 ? "src/" : ""}f${id}.txt`));
  let ids = files;
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
  const counts: MergeCounts = { merged: 0, refused: 0, rewritten: 0, kept: 0 };
  const kept: typeof all = [];
  for (const [at, { record, tree }] of chance.shuffled(all).entries()) {
    if (at % 100 === 99) say(`merge: ${at + 1} of ${forks} forks`);
    const expected = mergeModel(start, tree, current);
    const refused = await conflictsOf(() => fixture.workspaces.merge(record, fixture.opener));
    check(refused, expected, tree, current, start);
    if (expected.conflicts.size === 0) {
      current = expected.result;
      counts.merged++;
      tally.survived();
    } else {
      counts.refused++;
      same(treeOf(base), printed(current), `${record.name} was refused and changed something`);
      if (![...expected.conflicts.values()].every(what => typeof what === "object")) {
        kept.push({ record, tree });
        continue;
      }
      // Rewritten in the fork, with lines of both sides, it can be merged: not before each change of the base was.
      const runs = chance.shuffled(runsOf(expected, start, current));
      const rewritten = copyOf(tree);
      for (let done = 0; done < runs.length; ) {
        const before = copyOf(rewritten);
        done += 1 + chance.below(runs.length - done);
        for (const { id, lines } of runs.slice(0, done))
          for (const line of lines) (rewritten.get(id) as ModelFile).lines[line] = `both ${unique()}`;
        write(record.root, before, rewritten);
        const left = await conflictsOf(() => fixture.workspaces.merge(record, fixture.opener));
        checkLeft(left ?? [], runs.slice(done), rewritten, current, start);
      }
      current = mergeModel(start, rewritten, current).result;
      counts.rewritten++;
      tally.survived();
    }
    same(treeOf(base), printed(current), record.name);
    const rest = await fixture.workspaces.diff(record, fixture.opener);
    if (rest.length > 0)
      throw new Error(`${record.name} still differs after it was merged: ${rest.map(({ path }) => path)}`);
  }
  for (const { record, tree } of kept) {
    same(treeOf(record.root), printed(tree), `${record.name} was refused and has changed`);
    counts.kept++;
    tally.survived();
  }
  return counts;
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
    if (typeof lines === "string") {
      checkWhy(told.get(id), fork.get(id), theirs.get(id));
      continue;
    }
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

/** Adjacent lines that the base changed in an overlap. */
interface BaseRun {
  readonly id: number;
  readonly lines: readonly number[];
}

function runsOf({ conflicts }: ModelMerge, start: ModelTree, theirs: ModelTree): BaseRun[] {
  const runs: { readonly id: number; readonly lines: number[] }[] = [];
  for (const [id, lines] of conflicts)
    for (const line of lines as readonly number[]) {
      if (theirs.get(id)?.lines[line] === start.get(id)?.lines[line]) continue;
      const last = runs.at(-1);
      if (last?.id === id && last.lines.at(-1) === line - 1) last.lines.push(line);
      else runs.push({ id, lines: [line] });
    }
  return runs;
}

/** Whether exactly the changes of the base that were not rewritten are reported again. */
function checkLeft(
  refused: NonNullable<Awaited<ReturnType<typeof conflictsOf>>>,
  left: readonly BaseRun[],
  fork: ModelTree,
  theirs: ModelTree,
  start: ModelTree,
): void {
  const textsOf = (tree: ModelTree) =>
    left.flatMap(({ id, lines }) => lines.map(line => tree.get(id)?.lines[line])).sort();
  const shown = refused.flatMap(({ base = [] }) => base.map(({ text }) => text));
  const unchanged = new Set([...start.values(), ...fork.values()].flatMap(({ lines }) => lines));
  // Lines between two changes may be shown with them.
  const told = shown.filter(text => !unchanged.has(text)).sort();
  if (JSON.stringify(told) !== JSON.stringify(textsOf(theirs)))
    throw new Error(`reported ${JSON.stringify(told)}, and ${JSON.stringify(textsOf(theirs))} are left`);
}

/** Whether a refusal that is not about lines says what each side did. */
function checkWhy(
  told: MergeConflict | undefined,
  ours: ModelFile | undefined,
  theirs: ModelFile | undefined,
): void {
  const reason = ours?.gone ? "deleted_in_fork" : theirs?.gone ? "deleted_in_base" : "both_renamed";
  const isSaid =
    told?.reason === reason &&
    (reason !== "both_renamed" || (told.moved?.fork === ours?.path && told.moved?.base === theirs?.path));
  if (!isSaid) throw new Error(`not told why: ${reason}: ${JSON.stringify(told)}`);
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
