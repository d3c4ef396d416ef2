// The known word that a mistyped one was probably meant to be.
import { editDistance } from "../engine/text/distance.ts";

/** " (did you mean X?)", or nothing where no word is near. */
export function suggestion(word: string, known: readonly string[]): string {
  // Two letters that changed places count as two edits.
  const meant = nearest(word, known, word.length < 4 ? 1 : Math.max(2, limitFor(word)));
  return meant === undefined ? "" : ` (did you mean ${meant}?)`;
}

/** The same with up to three words; a word that contains the mistyped one counts as near. */
export function suggestions(word: string, known: readonly string[]): string {
  const lower = word.toLowerCase();
  const scored = known.flatMap(name => {
    const distance = editDistance(lower, name.toLowerCase());
    const contains = lower.length > 2 && (name.includes(lower) || sharesWord(lower, name));
    return distance <= limitFor(word) || contains ? [{ name, distance }] : [];
  });
  const names = scored
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ name }) => name);
  return names.length === 0 ? "" : ` (did you mean ${names.join(" or ")}?)`;
}

/** `file_read` and `read_file`, `grep_files` and `grep`. */
function sharesWord(word: string, name: string): boolean {
  const words = name.split("_");
  const parts = word.split(/[_-]/);
  return parts.length > 1 && parts.every(part => words.includes(part));
}

function limitFor(word: string): number {
  return Math.max(1, Math.floor(word.length / 3));
}

export function nearest(word: string, known: readonly string[], limit = limitFor(word)): string | undefined {
  let best: { name: string; distance: number } | undefined;
  for (const name of known) {
    const distance = editDistance(word.toLowerCase(), name.toLowerCase());
    if (distance <= limit && (best === undefined || distance < best.distance)) best = { name, distance };
  }
  return best?.name;
}
