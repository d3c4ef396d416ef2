// Names as file systems compare them that ignore case or Unicode form. Each such system has rules of its own, so this
// folds as much as any of them does: names that one of them takes for the same are the same here.
import { isAscii } from "./ascii.ts";
import { foldCase } from "./fold.ts";

export function foldName(name: string): string {
  if (isAscii(name)) return name.toLowerCase();
  // Some small letters have a capital of several letters, as "ß" has "SS", which may not be in normal form.
  return foldCase(name.normalize("NFC").toLowerCase().toUpperCase().normalize("NFC"));
}

/** Another spelling of a name, which leads to the same entry where its file system ignores case or Unicode form. */
export function otherSpelling(name: string): string | undefined {
  const spellings = [name.toLowerCase(), name.toUpperCase(), name.normalize("NFD"), name.normalize("NFC")];
  return spellings.find(other => other !== name && foldName(other) === foldName(name));
}
