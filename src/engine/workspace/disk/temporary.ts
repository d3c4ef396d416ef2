// Temporary names of a commit in the user's directories: new content not yet in place, old content not yet removed.
// They do not contain the target's name, so names of any length work. Listings and searches hide them while they are
// fresh; one whose journal was lost with the state directory is shown. Only names in a journal are ever removed, so a
// user's file with a similar name is safe.
import { randomFillSync } from "node:crypto";

const nameBytes = 16;
const random = Buffer.alloc(64 * nameBytes); // filled for many names at once: each request costs
let used = random.length;

export function temporaryName(): string {
  return `.polyfs-${randomName()}.tmp`;
}

/** A name that nothing else has: 32 hexadecimal digits. */
export function randomName(): string {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  used += nameBytes;
  return random.toString("hex", used - nameBytes, used);
}

/** How long a temporary file is left out of lists. No commit takes this long, so an older one was left by a crash. */
const temporaryMs = 10 * 60_000;

/** Of every temporary name. */
export const temporaryLength = 44;

/**
 * Whether an entry is one that a commit uses for a moment. It is not part of the tree: it is not listed, copied or
 * kept. An older one was left by a crash and is an entry like any other, so that it is noticed.
 */
export function isOfCommit(name: string, changedMs: number): boolean {
  return isTemporaryName(name) && Date.now() - changedMs < temporaryMs;
}

export function isTemporaryName(name: string): boolean {
  return name.length === temporaryLength && /^\.polyfs-[0-9a-f]{32}\.tmp$/.test(name);
}
