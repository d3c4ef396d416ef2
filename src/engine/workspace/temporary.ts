// Names for what a commit keeps in the user's directories while it works: new bytes not yet in place, old bytes
// not yet let go. They do not contain the target's name, so that names of any length work; lists and searches
// leave them out; and only what a journal names is ever removed, so a user's file that looks alike is safe.
import { randomBytes } from "node:crypto";

export function temporaryName(): string {
  return `.polyfs-${randomBytes(16).toString("hex")}.tmp`;
}

export function isTemporaryName(name: string): boolean {
  return name.length === 44 && /^\.polyfs-[0-9a-f]{32}\.tmp$/.test(name);
}
