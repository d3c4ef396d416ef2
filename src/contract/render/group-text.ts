// Text about a group of entries, made once for as long as the group stays the same: a tree that did not change is then
// answered without looking at each of its names. It is kept with the entries, and goes when the walk forgets them.
import type { BatchText } from "../../engine/search/entry-run.ts";
import type { Group } from "../../engine/search/walker.ts";

/**
 * `form` identifies everything that the text depends on besides the group; `make` uses nothing else, and of entries
 * only name and kind.
 */
export function groupText(
  group: Group,
  form: string,
  make: (group: Group) => Pick<BatchText, "text" | "count">,
): BatchText {
  const before = group.batch.text;
  if (before?.form === form) return before;
  const { text, count } = make(group);
  group.batch.text = { form, text, count };
  return group.batch.text;
}
