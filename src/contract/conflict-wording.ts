// The conflicts of a merge in words, with the lines of both sides. Shared by the dialect that offers workspaces and by
// the command line.
import type { MergeConflict, NumberedLine } from "../engine/fault.ts";
import { mostConflicts, shownLines } from "../engine/workspaces/shown-conflicts.ts";

const reasons: { readonly [R in MergeConflict["reason"]]: string } = {
  both_changed: "both changed the same lines",
  both_added: "both added it, with different contents",
  deleted_in_fork: "the fork deleted it, the base changed it",
  deleted_in_base: "the base deleted it, the fork changed it",
  both_renamed: "both moved it, to different places",
  kinds: "it is a file on one side and something else on the other; rename one of them",
  modes: "both changed its permissions",
  in_the_way: "the base has something else at that path; rename one of them",
};

/** Several lines for each conflict, without a final line break. */
export function sayConflicts(conflicts: readonly MergeConflict[], name: (path: string) => string): string {
  const [base, fork] = [shownLines(conflicts, "base"), shownLines(conflicts, "fork")];
  const said = conflicts
    .slice(0, mostConflicts)
    .map((conflict, i) => sayConflict(conflict, name, { base: base[i] ?? 0, fork: fork[i] ?? 0 }));
  const more = conflicts.length - said.length;
  return [...said, ...(more > 0 ? [`and ${more} more`] : [])].join("\n");
}

function sayConflict(
  { path, reason, fork, base, contents, encodings, masked, moved }: MergeConflict,
  name: (path: string) => string,
  shown: { readonly base: number; readonly fork: number },
): string {
  const places = [
    ...(moved?.fork === undefined ? [] : [`fork: ${name(moved.fork)}`]),
    ...(moved?.base === undefined ? [] : [`base: ${name(moved.base)}`]),
  ];
  const isWhole = reason === "both_changed" && (fork === undefined || encodings !== undefined);
  const what = [
    isWhole ? "both changed it" : reasons[reason],
    ...(contents ? [" and its contents"] : []),
    ...(encodings
      ? [`, and its encoding is ${encodings.base} in the base and ${encodings.fork} in the fork`]
      : []),
    ...(places.length > 0 ? [` (${places.join(", ")})`] : []),
    ...(masked ? ["; the policy masks it: a person has to merge it, with polyfs workspace merge"] : []),
  ];
  const head = `${name(path)}: ${what.join("")}`;
  return [head, ...lines("base", base, shown.base), ...lines("fork", fork, shown.fork)].join("\n");
}

function lines(side: string, places: readonly NumberedLine[] | undefined, most: number): string[] {
  if (places === undefined) return [];
  const shown = places.slice(0, most).map(({ line, text }) => `    ${line}: ${text}`);
  const more = places.length - shown.length;
  return [`  ${side}:`, ...shown, ...(more > 0 ? [`    … ${more} more lines`] : [])];
}
