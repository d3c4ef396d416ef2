// Orders for listings, and the top N in one of them. Each order is total: ties are broken by path, so the same tree
// is always listed the same way.
import type { Kind } from "../fault.ts";
import { compareBytes } from "./order.ts";

/** What an order compares. */
export interface Sortable {
  readonly path: string;
  readonly name: string;
  readonly kind: Kind;
  readonly size: number;
  readonly modified: Date;
}

/** `size` and `modified` sort the largest and newest first, `type` directories before the rest. */
export type SortKey = "name" | "path" | "size" | "modified" | "type";

export type SortOrder = (a: Sortable, b: Sortable) => number;

const orders: { readonly [K in SortKey]: SortOrder } = {
  path: () => 0,
  name: (a, b) => compareBytes(a.name, b.name),
  size: (a, b) => bytes(b) - bytes(a),
  modified: (a, b) => b.modified.getTime() - a.modified.getTime(),
  type: (a, b) => rank(a.kind) - rank(b.kind) || compareBytes(a.name, b.name),
};

export function comparison(key: SortKey): SortOrder {
  const order = orders[key];
  return (a, b) => order(a, b) || compareBytes(a.path, b.path);
}

/** Keeps the first `limit` items in bounded memory. */
export class FirstItems<T> {
  readonly #limit: number;
  readonly #compare: (a: T, b: T) => number;
  #items: T[] = [];
  /** How many it was given. */
  count = 0;

  constructor(limit: number, compare: (a: T, b: T) => number) {
    this.#limit = limit;
    this.#compare = compare;
  }

  add(item: T): void {
    this.count++;
    this.#items.push(item);
    if (this.#items.length >= 2 * this.#limit + 1000) this.#items = this.sorted();
  }

  sorted(): T[] {
    return this.#items.toSorted(this.#compare).slice(0, this.#limit);
  }
}

/** File systems disagree about the size of directories and links. */
function bytes({ kind, size }: Sortable): number {
  return kind === "file" ? size : 0;
}

function rank(kind: Kind): number {
  return kind === "directory" ? 0 : kind === "file" ? 1 : 2;
}
