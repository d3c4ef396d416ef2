// Text about groups of entries, made once for as long as a group stays the same: a tree that did not change is then
// answered without looking at each of its names. It goes when the walk forgets the group.
import type { Group } from "../../engine/search/walker.ts";
import type { Entry } from "../../engine/workspace/directory.ts";

export interface GroupText {
  readonly text: string;
  /** How many of the entries it is about. */
  readonly count: number;
}

export class GroupTexts {
  readonly #made = new WeakMap<readonly Entry[], GroupText & { readonly prefix: string }>();
  readonly #make: (group: Group) => GroupText;

  /** `make` looks at nothing but names and kinds. */
  constructor(make: (group: Group) => GroupText) {
    this.#make = make;
  }

  of(group: Group): GroupText {
    const before = this.#made.get(group.entries);
    if (before?.prefix === group.prefix) return before;
    const made = { ...this.#make(group), prefix: group.prefix };
    this.#made.set(group.entries, made);
    return made;
  }
}
