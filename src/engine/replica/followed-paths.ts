// The paths of what a command did, wherever others move or copy them before it is in the log.
import type { OwnPaths } from "../workspace/commit/publication.ts";
import type { Operation } from "../workspace/commit/publish.ts";
import { under } from "../workspace/root.ts";
import { isWithin } from "../workspace/within.ts";

interface FollowedMove {
  readonly from: string;
  readonly to: string;
}

export class FollowedPaths {
  readonly #own: OwnPaths;
  /** Absolute, in the order of the log. */
  readonly #moves: FollowedMove[] = [];

  constructor(own: OwnPaths) {
    this.#own = own;
  }

  /** To be called with each entry of the log, until the command's own is there. */
  follow(operations: readonly Operation[], root: string): void {
    for (const one of operations) {
      if (!("from" in one)) continue;
      const from = under(root, one.from);
      if (this.has(from)) this.#moves.push({ from, to: under(root, one.at) });
    }
  }

  readonly has: OwnPaths = path => {
    let at = path;
    for (const { from, to } of this.#moves.toReversed()) {
      if (this.#own(at)) return true;
      if (isWithin(at, to)) at = from + at.slice(to.length);
    }
    return this.#own(at);
  };
}

/** The same for paths that are known one by one: adds where entries of the log take them. They are relative. */
export function followAll(paths: Set<string>, operations: readonly Operation[]): void {
  for (const one of operations)
    if ("from" in one)
      for (const path of [...paths])
        if (isWithin(path, one.from)) paths.add(one.at + path.slice(one.from.length));
}
