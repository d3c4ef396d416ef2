// A tree for display: built during a walk, then cut to the size of an answer. Directories are expanded level by level
// while their entries fit; one that does not fit stays collapsed and shows its number of entries.
import { printable } from "../../contract/wording.ts";
import { compareBytes } from "../../engine/search/order.ts";
import type { Group } from "../../engine/search/walker.ts";
import { humanSize } from "../../engine/text/size.ts";
import type { DirectoryEntry } from "../../engine/workspace/directory-entry.ts";
import type { Stat } from "../../engine/workspace/stat.ts";
import { counted } from "./answer.ts";

/** A directory. Its entries stay as the walk gave them: most are counted and never shown. */
interface OutlineBranch {
  /** -1 for the start. */
  readonly depth: number;
  readonly runs: (readonly DirectoryEntry[])[];
  branches: Map<DirectoryEntry, OutlineBranch> | undefined;
  /** Of its own entries. */
  count: number;
  /** All that is below it, as far as the walk went. */
  below: number;
}

interface OutlineDetail {
  readonly target?: string | undefined;
  readonly stat?: Stat | undefined;
}

/** An entry that is shown. `closed` is a directory whose entries are not. */
export interface Shown extends OutlineDetail {
  readonly entry: DirectoryEntry;
  readonly depth: number;
  /** All that is below it, as far as the walk went. */
  readonly below: number;
  readonly closed: boolean;
}

/** The visible part of an outline. */
export interface VisibleOutline {
  readonly entries: readonly Shown[];
  /** Entries of the start itself that are not in it. */
  readonly cut: number;
  /** Directories whose entries are not in it. */
  readonly collapsed: number;
}

type OutlineOrder = "name" | "size" | "modified";

const noDetail: OutlineDetail = {};

export class Outline {
  readonly #root = branchAt(-1);
  /** The directories from the root to the latest entry. */
  readonly #trail: OutlineBranch[] = [this.#root];
  readonly #order: OutlineOrder;
  readonly #stats: boolean;
  readonly #most: number;
  readonly #details = new Map<DirectoryEntry, OutlineDetail>();
  directories = 0;
  others = 0;
  /** Whether there was more than the most entries to take. */
  isFull = false;

  constructor(order: OutlineOrder, stats: boolean, most: number) {
    this.#order = order;
    this.#stats = stats;
    this.#most = most;
  }

  /** Whether any entry has more to show than its name and kind. */
  get hasDetails(): boolean {
    return this.#details.size > 0;
  }

  /** Takes the next entries of a walk in the order of a tree. False if it takes no more. */
  add(group: Group): boolean {
    const { depth } = group;
    const room = this.#most - this.#root.below;
    this.isFull = group.entries.length > room;
    const entries = this.isFull ? group.entries.slice(0, room) : group.entries;
    this.#trail.length = depth + 1;
    const branch = this.#trail[depth];
    if (branch === undefined) return false;
    branch.runs.push(entries);
    branch.count += entries.length;
    for (let level = 0; level <= depth; level++)
      (this.#trail[level] as OutlineBranch).below += entries.length;
    for (let i = 0; i < entries.length; i++) {
      const entry = entries[i] as DirectoryEntry;
      if (entry.kind === "symlink" || this.#stats) this.#details.set(entry, this.#detail(entry, group));
      if (entry.kind === "directory") {
        // The walk goes down into it next.
        const inner = branchAt(depth);
        branch.branches ??= new Map();
        branch.branches.set(entry, inner);
        this.#trail[depth + 1] = inner;
        this.directories++;
      } else this.others++;
    }
    return !this.isFull;
  }

  #detail(entry: DirectoryEntry, { parent }: Group): OutlineDetail {
    return {
      target: entry.kind === "symlink" ? parent()?.linkTarget(entry) : undefined,
      stat: this.#stats ? parent()?.stat(entry) : undefined,
    };
  }

  /** The visible part. `cut` entries of the start itself are hidden, and so are those of collapsed directories. */
  choose(limit: number, room: number, details: boolean): VisibleOutline {
    const open = new Map<OutlineBranch, readonly DirectoryEntry[]>();
    let entries = limit;
    let bytes = room;
    let collapsed = 0;
    const cost = (entry: DirectoryEntry, depth: number) =>
      Buffer.byteLength(entry.name) +
      (this.#details.get(entry)?.target?.length ?? 0) +
      2 * depth +
      (details ? 45 : 12);
    const top = this.#sorted(this.#root);
    const first: DirectoryEntry[] = [];
    for (const entry of top) {
      const bytesOfEntry = cost(entry, 0);
      if (entries === 0 || bytesOfEntry > bytes) break;
      entries--;
      bytes -= bytesOfEntry;
      first.push(entry);
    }
    open.set(this.#root, first);
    const queue: OutlineBranch[] = [];
    const enqueue = (branch: OutlineBranch, visible: readonly DirectoryEntry[]): void => {
      for (const entry of visible) {
        const inner = branch.branches?.get(entry);
        if (inner !== undefined && inner.count > 0) queue.push(inner);
      }
    };
    enqueue(this.#root, first);
    for (const branch of queue) {
      const fits = branch.count <= entries && branch.count * 12 <= bytes;
      const needed = fits
        ? branch.runs.flat().reduce((sum, entry) => sum + cost(entry, branch.depth + 1), 0)
        : Number.POSITIVE_INFINITY;
      if (needed > bytes) {
        collapsed++;
        continue;
      }
      entries -= branch.count;
      bytes -= needed;
      const visible = this.#sorted(branch);
      open.set(branch, visible);
      enqueue(branch, visible);
    }
    return { entries: this.#flattened(open), cut: top.length - first.length, collapsed };
  }

  #sorted({ runs }: OutlineBranch): readonly DirectoryEntry[] {
    // A walk gives the names of a directory in order.
    if (this.#order === "name") return runs.length === 1 ? (runs[0] ?? []) : runs.flat();
    const entries = runs.flat();
    const stat = (entry: DirectoryEntry) => this.#details.get(entry)?.stat;
    const size = (entry: DirectoryEntry) => stat(entry)?.size ?? 0;
    const time = (entry: DirectoryEntry) => stat(entry)?.modified.getTime() ?? 0;
    const key = this.#order === "size" ? size : time;
    return entries.sort((a, b) => key(b) - key(a) || compareBytes(a.name, b.name));
  }

  /** Without recursion: a tree may be deeper than the stack. */
  #flattened(open: ReadonlyMap<OutlineBranch, readonly DirectoryEntry[]>): Shown[] {
    const shown: Shown[] = [];
    const waiting: { readonly entry: DirectoryEntry; readonly above: OutlineBranch }[] = [];
    const wait = (above: OutlineBranch, entries: readonly DirectoryEntry[]): void => {
      for (const entry of entries.toReversed()) waiting.push({ entry, above });
    };
    wait(this.#root, open.get(this.#root) ?? []);
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { entry, above } = next;
      const branch = above.branches?.get(entry);
      const below = branch?.below ?? 0;
      const visible = branch && open.get(branch);
      const closed = visible === undefined && below > 0;
      const detail = this.#details.get(entry) ?? noDetail;
      shown.push({ ...detail, entry, depth: above.depth + 1, below, closed });
      if (branch !== undefined && visible !== undefined) wait(branch, visible);
    }
    return shown;
  }
}

function branchAt(depth: number): OutlineBranch {
  return { depth, runs: [], branches: undefined, count: 0, below: 0 };
}

export function indented(depth: number, line: string): string {
  return depth === 0 ? line : "  ".repeat(depth) + line;
}

/** `src/ (120 entries)`, `link -> target`, `a.ts  3.4 KB  2026-07-28 10:15  rw-r--r--` */
export function describe({ entry, target, stat, below, closed }: Shown, details: boolean): string {
  const { kind } = entry;
  const name = printable(entry.name);
  const mark =
    kind === "directory" ? `${name}/` : kind === "symlink" ? `${name} -> ${printable(target ?? "?")}` : name;
  const special = kind === "file" || kind === "directory" || kind === "symlink" ? "" : ` (${kind})`;
  const held = closed ? ` (${counted(below, "entry", "entries")})` : "";
  if (!details || stat === undefined) return mark + special + held;
  const size = kind === "directory" ? "-" : humanSize(stat.size);
  const time = stat.modified.toISOString().slice(0, 16).replace("T", " ");
  return `${mark}${special}${held}  ${size}  ${time}  ${permissions(stat.mode)}`;
}

export function permissions(mode: number): string {
  return [..."rwx".repeat(3)].map((letter, i) => (mode & (0o400 >> i) ? letter : "-")).join("");
}
