// A power cut, simulated on a recording: flushed writes are on the disk, the others only by chance. File
// systems promise no more than this, and use that freedom:
//
//   data    bytes of a file that was not flushed are there, missing, zeros, or there up to some sector
//   names   of the changes to a directory that was not flushed, the first few are there; those of one directory keep
//           their order, those of different ones do not; a rename happens as a whole
import type { Chance } from "../chance.ts";
import type { Operation, Thing } from "./recording.ts";
import type { Recorded } from "./saved-cut.ts";

const styles = [
  "nothing",
  "everything",
  "names only",
  "data only",
  "in order",
  "each by chance",
  "most",
  "few",
] as const;

/** What is on the disk. */
export interface Disk {
  readonly files: ReadonlyMap<number, OnDisk>;
  readonly style: string;
}

export interface OnDisk {
  readonly thing: Thing;
  data: Buffer;
  mode: number;
  mtime: number;
  readonly entries: Map<string, number>;
}

/** The disk when the power failed after the first `cut` operations. */
export function cutPower(recording: Recorded, cut: number, chance: Chance): Disk {
  const done = recording.operations.slice(0, cut);
  const forced = flushed(done);
  const style = chance.pick(styles);
  const keeps = choice(style, done.length, chance);
  const files = new Map<number, OnDisk>();
  for (const thing of recording.things) {
    const { data, mode, mtime, entries } = thing;
    files.set(thing.id, { thing, data: Buffer.from(data), mode, mtime, entries: new Map(entries) });
  }
  const missing = new Set<number>();
  for (const [i, operation] of done.entries()) {
    const keep = forced[i] || keeps(operation, i);
    if (operation.is === "names") {
      const keys = operation.names.map(({ dir }) => dir);
      if (!keep || keys.some(key => missing.has(key))) {
        if (forced[i]) throw new Error("a flushed name depends on one that was not flushed");
        for (const key of keys) missing.add(key);
      } else for (const { dir, name, id } of operation.names) point(files.get(dir), name, id);
    } else if ("id" in operation && operation.is !== "synced") {
      const file = files.get(operation.id);
      if (file !== undefined)
        change(file, operation, keep ? "whole" : chance.pick(["not", "not", "zeros", "part"]), chance);
    }
  }
  return { files, style };
}

/** Which operations a flush has brought to the disk. */
export function flushed(done: readonly Operation[]): boolean[] {
  const forced = done.map(() => false);
  const reach = new Map<number, number>();
  for (let i = done.length - 1; i >= 0; i--) {
    const operation = done[i];
    if (operation?.is === "synced")
      reach.set(operation.id, Math.max(reach.get(operation.id) ?? 0, operation.upto));
    else if (operation?.is === "names")
      forced[i] = operation.names.some(({ dir }) => (reach.get(dir) ?? 0) > i);
    else if (operation !== undefined && "id" in operation) forced[i] = (reach.get(operation.id) ?? 0) > i;
  }
  // A change that is on the disk has all earlier ones of its directories behind it.
  const later = new Set<number>();
  for (let i = done.length - 1; i >= 0; i--) {
    const operation = done[i];
    if (operation?.is !== "names") continue;
    const dirs = operation.names.map(({ dir }) => dir);
    if (dirs.some(dir => later.has(dir))) forced[i] = true;
    if (forced[i]) for (const dir of dirs) later.add(dir);
  }
  return forced;
}

function choice(style: (typeof styles)[number], length: number, chance: Chance) {
  const end = length - chance.below(Math.min(length, 200));
  const ends = new Map<number, number>();
  const endOf = (dir: number): number => {
    const known = ends.get(dir) ?? chance.below(length + 1);
    ends.set(dir, known);
    return known;
  };
  return (operation: Operation, i: number): boolean => {
    const { is } = operation;
    if (style === "nothing") return false;
    if (style === "everything") return true;
    if (style === "names only") return is === "names";
    if (style === "data only") return is !== "names";
    if (style === "in order") return is === "names" ? i < end : chance.next() < 0.5;
    if (is === "names") return operation.names.every(({ dir }) => i < endOf(dir));
    return chance.next() < (style === "most" ? 0.9 : style === "few" ? 0.1 : 0.5);
  };
}

function point(directory: OnDisk | undefined, name: string, id: number | undefined): void {
  if (id === undefined) directory?.entries.delete(name);
  else directory?.entries.set(name, id);
}

type How = "whole" | "not" | "zeros" | "part";

function change(
  file: OnDisk,
  operation: Extract<Operation, { is: "write" | "truncate" | "mode" }>,
  how: How,
  chance: Chance,
): void {
  if (how === "not") return;
  if (operation.is === "mode") {
    if (how === "whole") Object.assign(file, { mode: operation.mode, mtime: operation.mtime });
    return;
  }
  file.mtime = operation.mtime;
  if (operation.is === "truncate") {
    const grown = Buffer.alloc(Math.max(0, operation.size - file.data.length));
    file.data = Buffer.concat([file.data.subarray(0, operation.size), grown]);
    return;
  }
  const { position, data } = operation;
  const sector = 512;
  const sectors = Math.floor(data.length / sector);
  const length = how === "whole" ? data.length : how === "part" ? chance.below(sectors + 1) * sector : 0;
  const end = how === "zeros" ? position + data.length : position + length;
  const all = Buffer.concat([file.data, Buffer.alloc(Math.max(0, end - file.data.length))]);
  data.copy(all, position, 0, length);
  file.data = all;
}
