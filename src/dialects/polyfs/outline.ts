// A tree for display: built during a walk, then cut to the size of an answer. Directories are expanded level by level
// while their entries fit; one that does not fit stays collapsed and shows its number of entries.
import { printable } from "../../contract/wording.ts";
import type { Kind } from "../../engine/fault.ts";
import { compareBytes } from "../../engine/search/order.ts";
import type { WalkEntry } from "../../engine/search/walker.ts";
import { humanSize } from "../../engine/text/size.ts";
import type { Stat } from "../../engine/workspace/stat.ts";
import { counted } from "./answer.ts";

interface OutlineNode {
  readonly name: string;
  readonly kind: Kind;
  readonly depth: number;
  readonly target?: string | undefined;
  readonly stat?: Stat | undefined;
  readonly children: OutlineNode[];
  /** All that lies below it, as far as the walk went. */
  below: number;
}

/** An entry that is shown. `closed` is a directory whose entries are not. */
export interface Shown {
  readonly node: OutlineNode;
  readonly depth: number;
  readonly closed: boolean;
}

type OutlineOrder = "name" | "size" | "modified";

export class Outline {
  readonly #root: OutlineNode = { name: "", kind: "directory", depth: -1, children: [], below: 0 };
  /** The directories from the root to the latest entry. */
  #trail: OutlineNode[] = [this.#root];
  readonly #order: OutlineOrder;
  readonly #stats: boolean;
  directories = 0;
  others = 0;

  constructor(order: OutlineOrder, stats: boolean) {
    this.#order = order;
    this.#stats = stats;
  }

  /** Takes the next entry of a walk in the order of a tree. */
  add(entry: WalkEntry): void {
    const { name, kind, depth } = entry;
    const node: OutlineNode = {
      name,
      kind,
      depth,
      target: kind === "symlink" ? entry.target() : undefined,
      stat: this.#stats ? entry.stat() : undefined,
      children: [],
      below: 0,
    };
    this.#trail.length = depth + 1;
    this.#trail[depth]?.children.push(node);
    for (let level = 0; level <= depth; level++) {
      const above = this.#trail[level];
      if (above !== undefined) above.below++;
    }
    if (kind === "directory") {
      this.directories++;
      this.#trail.push(node);
    } else this.others++;
  }

  /** The visible part. `cut` entries of the start itself are hidden, and so are those of collapsed directories. */
  choose(
    limit: number,
    room: number,
    details: boolean,
  ): { entries: Shown[]; cut: number; collapsed: number } {
    const open = new Map<OutlineNode, readonly OutlineNode[]>();
    let entries = limit;
    let bytes = room;
    let collapsed = 0;
    const cost = ({ name, target = "", depth }: OutlineNode) =>
      Buffer.byteLength(name) + target.length + 2 * depth + (details ? 45 : 12);
    const top = this.#sorted(this.#root);
    const first: OutlineNode[] = [];
    for (const child of top) {
      const bytesOfChild = cost(child);
      if (entries === 0 || bytesOfChild > bytes) break;
      entries--;
      bytes -= bytesOfChild;
      first.push(child);
    }
    open.set(this.#root, first);
    const queue = [...first];
    for (const node of queue) {
      if (node.children.length === 0) continue;
      const needed = node.children.reduce((sum, child) => sum + cost(child), 0);
      if (node.children.length > entries || needed > bytes) {
        collapsed++;
        continue;
      }
      entries -= node.children.length;
      bytes -= needed;
      const children = this.#sorted(node);
      open.set(node, children);
      for (const child of children) queue.push(child);
    }
    return { entries: flattened(this.#root, open), cut: top.length - first.length, collapsed };
  }

  #sorted({ children }: OutlineNode): OutlineNode[] {
    if (this.#order === "name") return children.toSorted((a, b) => compareBytes(a.name, b.name));
    const size = ({ stat }: OutlineNode) => stat?.size ?? 0;
    const time = ({ stat }: OutlineNode) => stat?.modified.getTime() ?? 0;
    const key = this.#order === "size" ? size : time;
    return children.toSorted((a, b) => key(b) - key(a) || compareBytes(a.name, b.name));
  }
}

/** Without recursion: a tree may be deeper than the stack. */
function flattened(root: OutlineNode, open: ReadonlyMap<OutlineNode, readonly OutlineNode[]>): Shown[] {
  const shown: Shown[] = [];
  const waiting = [...(open.get(root) ?? [])].reverse();
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    const children = open.get(node);
    shown.push({ node, depth: node.depth, closed: children === undefined && node.below > 0 });
    for (const child of (children ?? []).toReversed()) waiting.push(child);
  }
  return shown;
}

export function indented(depth: number, line: string): string {
  return depth === 0 ? line : "  ".repeat(depth) + line;
}

/** `src/ (120 entries)`, `link -> target`, `a.ts  3.4 KB  2026-07-28 10:15  rw-r--r--` */
export function describe({ node, closed }: Shown, details: boolean): string {
  const { kind, target, stat, below } = node;
  const name = printable(node.name);
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
