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

/**
 * The spelling of the entry that `name` leads to: another one on a file system that ignores case or Unicode form. What
 * replaces the entry keeps its spelling.
 */
export function storedSpelling(directory: Handle, name: string, device: number): string {
  const other = isExactDevice(device) || isEscaped(name) ? undefined : otherSpelling(name);
  if (other === undefined) return name;
  const there = statBelow(directory, other);
  const own = statBelow(directory, name);
  if (there === undefined) {
    if (own?.dev === device) noteExactDevice(device);
    return name;
  }
  if (own?.ino !== there.ino || own.dev !== there.dev) return name;
  const told = there.isSymbolicLink() ? other : spellingTold(directory, other);
  if (told !== other && foldName(told) === foldName(name)) return told;
  const names = readdirSync(directory.address);
  if (names.includes(name)) return name;
  const fits = names.filter(entry => foldName(entry) === foldName(name));
  return fits.length === 1 ? (fits[0] as string) : name;
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
