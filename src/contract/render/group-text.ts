// Text about groups of entries, made once for as long as a group stays the same: a tree that did not change is then
// answered without looking at each of its names. It is kept with the entries, and goes when the walk forgets them.
import type { BatchText } from "../../engine/search/plan.ts";
import type { Group } from "../../engine/search/walker.ts";

export class GroupTexts {
  readonly #make: (group: Group) => Pick<BatchText, "text" | "count">;

  /** `make` looks at nothing but names and kinds. */
  constructor(make: (group: Group) => Pick<BatchText, "text" | "count">) {
    this.#make = make;
  }

  of(group: Group): BatchText {
    const before = group.batch.text;
    if (before?.by === this && before.prefix === group.prefix) return before;
    const { text, count } = this.#make(group);
    group.batch.text = { by: this, prefix: group.prefix, text, count };
    return group.batch.text;
  }
}
