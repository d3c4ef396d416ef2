// The expected result of merging forks, as a simple model: a file is an identity with a path and lines. Lines are only
// replaced, so two sides overlap where they changed the same line or neighbours.
import type { Chance } from "../chance.ts";

export interface ModelFile {
  readonly id: number;
  path: string;
  lines: string[];
  gone: boolean;
}

export type ModelTree = Map<number, ModelFile>;

/** So many that a file with the changes of several forks is still taken for the same one. */
const lineCount = 40;
let counter = 0;

export function newFile(id: number, path: string): ModelFile {
  // Every line of every file is different, so that no file is mistaken for a renamed one.
  return {
    id,
    path,
    lines: Array.from({ length: lineCount }, (_, i) => `file ${id} line ${i} ${unique()}`),
    gone: false,
  };
}

export function unique(): string {
  return `${(++counter).toString(36)}-${Math.imul(counter, 2654435761).toString(36)}`;
}

export function copyOf(tree: ModelTree): ModelTree {
  return new Map([...tree].map(([id, file]) => [id, { ...file, lines: [...file.lines] }]));
}

/** A few random changes; `nextId` gives files of its own. */
export function changeRandomly(tree: ModelTree, chance: Chance, who: string, nextId: () => number): void {
  const files = [...tree.values()];
  for (let count = 1 + chance.below(4); count > 0; count--) {
    const file = chance.pick(files);
    const what = chance.next();
    if (file.gone) continue;
    if (what < 0.6) {
      const first = chance.below(lineCount);
      const end = Math.min(lineCount, first + (chance.below(2) === 0 ? 1 + chance.below(8) : 1));
      for (let line = first; line < end; line++) file.lines[line] = `${who} ${unique()}`;
    } else if (what < 0.75)
      file.path = `${chance.pick(["", "moved/", "deep/er/"])}${who}-${file.id}-${unique()}.txt`;
    else if (what < 0.85) file.gone = true;
    else {
      const id = nextId();
      tree.set(id, newFile(id, `new/${who}-${id}.txt`));
    }
  }
}

export interface ModelMerge {
  readonly result: ModelTree;
  /** By identity: the lines in question, or why else. */
  readonly conflicts: ReadonlyMap<number, readonly number[] | "moved" | "deleted">;
}

export function mergeModel(base: ModelTree, fork: ModelTree, theirs: ModelTree): ModelMerge {
  const result = copyOf(theirs);
  const conflicts = new Map<number, readonly number[] | "moved" | "deleted">();
  for (const [id, ours] of fork) {
    const [old, other] = [base.get(id), theirs.get(id)];
    if (old === undefined || other === undefined) {
      if (!ours.gone && old === undefined && other === undefined)
        result.set(id, { ...ours, lines: [...ours.lines] });
      continue;
    }
    const into = result.get(id);
    if (into === undefined) continue;
    const changedBy = (one: ModelFile) => one.lines.flatMap((line, i) => (line === old.lines[i] ? [] : [i]));
    const [mine, yours] = [changedBy(ours), changedBy(other)];
    const [iMoved, theyMoved] = [ours.path !== old.path, other.path !== old.path];
    if (ours.gone || other.gone) {
      const survivor = ours.gone ? other : ours;
      const isTouched = !survivor.gone && (changedBy(survivor).length > 0 || survivor.path !== old.path);
      if (isTouched && ours.gone !== other.gone) conflicts.set(id, "deleted");
      else into.gone = true;
      continue;
    }
    if (iMoved && theyMoved && ours.path !== other.path) {
      conflicts.set(id, "moved");
      continue;
    }
    const regions = overlaps(mine, yours, i => ours.lines[i] === other.lines[i]);
    if (regions.length > 0) conflicts.set(id, regions);
    if (iMoved) into.path = ours.path;
    for (const i of mine) if (ours.lines[i] !== undefined) into.lines[i] = ours.lines[i] as string;
  }
  return { result, conflicts };
}

/** The lines of every group of neighbouring changes that both sides have a part in and do not agree about. */
function overlaps(
  mine: readonly number[],
  yours: readonly number[],
  agree: (line: number) => boolean,
): number[] {
  const all = [...new Set([...mine, ...yours])].sort((a, b) => a - b);
  const found: number[] = [];
  for (let i = 0; i < all.length; ) {
    let end = i;
    while (all[end + 1] !== undefined && (all[end + 1] as number) <= (all[end] as number) + 1) end++;
    const group = all.slice(i, end + 1);
    const both = group.some(line => mine.includes(line)) && group.some(line => yours.includes(line));
    if (both && !group.every(agree)) found.push(...group);
    i = end + 1;
  }
  return found;
}

/** As files on the disk. */
export function printed(tree: ModelTree): Record<string, string> {
  return Object.fromEntries(
    [...tree.values()].filter(({ gone }) => !gone).map(({ path, lines }) => [path, `${lines.join("\n")}\n`]),
  );
}
