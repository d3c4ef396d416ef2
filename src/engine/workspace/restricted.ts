// What rules say about the things in some roots, found by walking them: for a sandbox, which shows a command the same
// view of the roots that the tools have. Everything is found and held by handle.

import type { Buffer } from "node:buffer";
import type { Dirent } from "node:fs";
import type { Decision } from "../policy/rule.ts";
import { display, Handle } from "./handle.ts";
import { maskedText } from "./masked-file.ts";
import { type Root, under } from "./root.ts";
import { readdirSync } from "./system/calls.ts";
import { byDescriptor } from "./system/descriptors.ts";

export interface Restricted extends Disposable {
  readonly handle: Handle;
  readonly isDirectory: boolean;
  /** Nothing of it is seen; this text is seen instead; or all of it, with or without changes. */
  readonly seen: "nothing" | Buffer | "read-only" | "read-write";
}

/**
 * The paths with other access than their parent directory. The caller disposes of each. Not computed on systems
 * without race-free handles: there a sandbox works by paths.
 */
export function restrictedIn(roots: readonly Root[]): Restricted[] {
  const found: Restricted[] = [];
  if (!byDescriptor) return found;
  try {
    for (const root of roots)
      if (root.rules.restrict) walk(root, root.handle, root.handle.whereabouts(), stateOf(root), found);
    return found;
  } catch (error) {
    for (const one of found) one[Symbol.dispose]();
    throw error;
  }
}

/** Whether commands may change things directly in a root, as far as the rules go. */
export function isChangeable(root: Root): boolean {
  return root.access === "read-write" && root.rules.decide(display(root.handle.whereabouts())).changes;
}

type RootAccess = "read-only" | "read-write";

function stateOf(root: Root): RootAccess {
  return isChangeable(root) ? "read-write" : "read-only";
}

function walk(root: Root, directory: Handle, at: string, state: RootAccess, found: Restricted[]): void {
  for (const entry of entriesOf(directory)) {
    const name = entry.name as unknown as Buffer;
    if (entry.isSymbolicLink()) continue;
    const place = under(at, name.toString("latin1"));
    const decision = root.rules.decide(display(place));
    const seen = seenOf(decision, root);
    if (seen === state && !entry.isDirectory()) continue;
    const handle = open(directory, name, entry.isDirectory());
    if (handle === undefined) continue;
    const isDirectory = entry.isDirectory();
    const listed = seen !== state;
    if (listed)
      found.push(
        restricted(
          handle,
          isDirectory,
          seen === "masked" && !isDirectory
            ? (maskedText(root.rules, display(place), handle.address) ?? "nothing")
            : seen === "masked"
              ? state
              : seen,
        ),
      );
    if (isDirectory && seen !== "nothing") walk(root, handle, place, seen === "masked" ? state : seen, found);
    if (!listed) handle.close();
  }
}

function seenOf({ contents, changes }: Decision, root: Root): "nothing" | "masked" | RootAccess {
  if (contents === "none") return "nothing";
  if (contents === "masked") return "masked";
  return changes && root.access === "read-write" ? "read-write" : "read-only";
}

function restricted(handle: Handle, isDirectory: boolean, seen: Restricted["seen"]): Restricted {
  return { handle, isDirectory, seen, [Symbol.dispose]: () => handle.close() };
}

function entriesOf(directory: Handle): Dirent[] {
  try {
    return readdirSync(directory.address, { withFileTypes: true, encoding: "buffer" }) as unknown as Dirent[];
  } catch {
    return []; // not ours to read: then a command cannot either
  }
}

function open(directory: Handle, name: Buffer, isDirectory: boolean): Handle | undefined {
  try {
    return Handle.open(directory.below(name), { follow: false, directory: isDirectory });
  } catch {
    return undefined; // gone
  }
}
