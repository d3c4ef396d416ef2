// Files with their own checksum: the first line is the sum of the rest.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Chance } from "../chance.ts";
import { sumOf } from "./ledger.ts";

export const blobs = 16;

export function blobName(number: number): string {
  return `blob/b${number}.txt`;
}

export function blobContent(chance: Chance): string {
  const lines = Array.from(
    { length: 1 + chance.below(2500) },
    () => `line ${chance.below(1_000_000_000)} of a file`,
  );
  const body = `${lines.join("\n")}\n`;
  return `${sumOf(body)}\n${body}`;
}

export function prepareBlobs(root: string, chance: Chance): void {
  for (let i = 0; i < blobs; i++) writeFileSync(join(root, blobName(i)), blobContent(chance));
}

/** As an editor saves: beside it, then in its place. */
export function saveFromOutside(root: string, name: string, content: string): void {
  const aside = join(root, "..", `outside-${name.replaceAll("/", "-")}`);
  writeFileSync(aside, content);
  renameSync(aside, join(root, name));
}

/** Whether a file is torn: missing, or not what it says. */
export function isTorn(root: string, name: string): boolean {
  try {
    const text = readFileSync(join(root, name), "latin1");
    const end = text.indexOf("\n");
    return sumOf(Buffer.from(text.slice(end + 1), "latin1")) !== text.slice(0, end);
  } catch {
    return true;
  }
}
