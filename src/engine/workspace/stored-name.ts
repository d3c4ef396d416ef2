// How a name is stored in its directory, where callers may spell it in another way.
import { isUtf8 } from "node:buffer";
import type { Stats } from "node:fs";
import { foldName, otherSpelling } from "../text/fold-name.ts";
import { Handle } from "./handle.ts";
import { isEscaped } from "./name.ts";
import { lstatSync, readdirSync } from "./system/calls.ts";
import type { Address } from "./system/held.ts";
import { lstatIfThere } from "./system/identity.ts";

/**
 * Whether a name means itself and no other; `"form"`: or the same text in another Unicode normal form, which is what
 * people mean who write to a name that they see.
 */
export type Exactness = boolean | "form";

/**
 * The stored name for `name`, or `name` itself if none fits. They differ if the file system holds another Unicode
 * normal form (macOS stores NFD, people type NFC), bytes that are not UTF-8 and were shown as U+FFFD, or the text of
 * an escape (name.ts). The exact name wins; two other candidates are ambiguous and count as none.
 */
export function storedName(directory: Handle, name: string, exact: Exactness): Address {
  if (exact === true || (!/[^\x20-\x7e]/.test(name) && !isEscaped(name))) return name;
  if (lstatSync(directory.below(name), { throwIfNoEntry: false }) !== undefined) return name;
  if (isEscaped(name)) {
    if (exact !== false) return name;
    const literal = Buffer.from(name);
    return lstatSync(directory.below(literal), { throwIfNoEntry: false }) === undefined ? name : literal;
  }
  const wanted = name.normalize("NFC");
  const fits = readdirSync(directory.address, { encoding: "buffer" }).filter(
    entry => entry.toString("utf8").normalize("NFC") === wanted && (exact === false || isUtf8(entry)),
  );
  return fits.length === 1 ? (fits[0] as Buffer) : name;
}

/**
 * Devices where two spellings have been seen to be two names. Single directories there may still ignore case (ext4,
 * NTFS); looking for those would cost every change a call.
 */
const exactDevices = new Set<number>();

export function isExactDevice(device: number): boolean {
  return exactDevices.has(device);
}

/** What exists on this device does not exist under another spelling. */
export function noteExactDevice(device: number): void {
  exactDevices.add(device);
}

/** Looks at a name that other programs replace at the same time. */
const mostLooks = 20;

/**
 * The spelling of the entry that `name` leads to: another one on a file system that ignores case or Unicode form. What
 * replaces the entry keeps its spelling. While an entry is replaced, two looks at it see two files, and a list may lack
 * it or have it twice. So what differs counts as two entries only if the list has both, and what is missing is looked for again.
 */
export function storedSpelling(directory: Handle, name: string, device: number): string {
  const other = isExactDevice(device) || isEscaped(name) ? undefined : otherSpelling(name);
  if (other === undefined) return name;
  for (let look = 0; look < mostLooks; look++) {
    const own = statBelow(directory, name);
    const there = statBelow(directory, other);
    if (own === undefined || there === undefined) {
      if (!isSameEntry(own, statBelow(directory, name))) continue;
      if (own?.dev === device) noteExactDevice(device);
      return name;
    }
    const told: string = there.isSymbolicLink() ? other : spellingTold(directory, other);
    if (told !== other && foldName(told) === foldName(name)) return told;
    const names = readdirSync(directory.address);
    if (names.includes(name)) return name;
    const [fit, ...more] = new Set(names.filter(entry => foldName(entry) === foldName(name)));
    if (fit !== undefined) return more.length === 0 ? fit : name;
  }
  return name;
}

function isSameEntry(one: Stats | undefined, other: Stats | undefined): boolean {
  return one?.ino === other?.ino && one?.dev === other?.dev;
}

function statBelow(directory: Handle, name: string): Stats | undefined {
  return lstatIfThere(directory.below(name));
}

/** How the system spells a name. Some systems only repeat the question. */
function spellingTold(directory: Handle, name: string): string {
  try {
    using entry = Handle.open(directory.below(name), { follow: false });
    const path = Buffer.from(entry.whereabouts(), "latin1").toString("utf8");
    return path.slice(path.lastIndexOf("/") + 1);
  } catch {
    return name;
  }
}
