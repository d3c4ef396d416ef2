// Compares two snapshots of a tree: what a command created, changed and deleted.
import { display } from "../handle.ts";
import { TimeSlice } from "./time-slice.ts";
import type { TreeEntry, TreeSnapshot } from "./tree-snapshot.ts";

export interface TreeChange {
  /** For people. */
  readonly path: string;
  /** Bytes as Latin-1. */
  readonly bytes: string;
  /** `mode`: only the permissions differ. `touched`: written to or replaced, possibly with the same content. */
  readonly change: "created" | "deleted" | "modified" | "mode" | "touched";
  readonly before?: TreeEntry;
  readonly after?: TreeEntry;
  /** Whether the previous content can be restored. */
  readonly restorable: boolean;
}

export interface TreeComparison {
  /** A directory comes before what is in it, and what is in it before its next sibling. */
  readonly changes: readonly TreeChange[];
  /** False if a snapshot was cut: there may be more, and what seems created may have been there. */
  readonly complete: boolean;
  /** Directories that were not entered, with what is known about them. */
  readonly skipped: readonly SkippedDirectory[];
}

export interface SkippedDirectory {
  readonly path: string;
  /** `unknown`: it holds too much to find out. */
  readonly state: "same" | "changed" | "unknown";
}

type Children = ReadonlyMap<string, TreeEntry>;

const none: Children = new Map();

export async function compareTrees(before: TreeSnapshot, after: TreeSnapshot): Promise<TreeComparison> {
  const changes: TreeChange[] = [];
  const slice = new TimeSlice();

  async function compare(then: Children, now: Children, path: string): Promise<void> {
    for (const name of namesOf(then, now)) {
      if (slice.isOver) await slice.turn();
      const [old, made] = [then.get(name), now.get(name)];
      const at = `${path}/${name}`;
      if ((old === undefined && !before.complete) || (made === undefined && !after.complete)) continue;
      const change = changeOf(old, made);
      if (change !== undefined) {
        const restorable = old === undefined || change === "mode" || isKept(old);
        changes.push({
          path: display(at),
          bytes: at,
          change,
          ...(old && { before: old }),
          ...(made && { after: made }),
          restorable,
        });
      }
      // For a directory that is now a file, the directory's own entry covers its contents.
      if (old && made && old.kind !== made.kind) continue;
      // If either directory could not be read, its contents are unknown.
      if (old && made && !(old.children && made.children)) continue;
      if (old?.children || made?.children) await compare(old?.children ?? none, made?.children ?? none, at);
    }
  }

  for (const path of new Set([...before.roots.keys(), ...after.roots.keys()]))
    await compare(before.roots.get(path) ?? none, after.roots.get(path) ?? none, path);
  return { changes, complete: before.complete && after.complete, skipped: compareSkipped(before, after) };
}

/** Those of both, in order. */
function namesOf(then: Children, now: Children): Iterable<string> {
  if (then.size === 0) return now.keys();
  if (now.size === 0) return then.keys();
  const added = [...now.keys()].filter(name => !then.has(name));
  return added.length === 0 ? then.keys() : [...then.keys(), ...added].sort();
}

/** Whether this record is enough to bring it back. What is in a directory has records of its own. */
function isKept({ kind, hash, target }: TreeEntry): boolean {
  return kind === "directory" || hash !== undefined || target !== undefined;
}

/** The times of a directory change with its entries, which are compared themselves. */
function changeOf(then: TreeEntry | undefined, now: TreeEntry | undefined): TreeChange["change"] | undefined {
  if (then === undefined) return now === undefined ? undefined : "created";
  if (now === undefined) return "deleted";
  if (then.kind !== now.kind) return "modified";
  const mode = then.mode === now.mode ? undefined : "mode";
  if (then.kind === "directory") return mode;
  if (then.hash !== undefined && now.hash !== undefined) return then.hash === now.hash ? mode : "modified";
  if (then.target !== undefined && now.target !== undefined)
    return then.target === now.target ? undefined : "modified";
  const same = then.inode === now.inode && then.device === now.device;
  if (!same || then.size !== now.size || then.modified !== now.modified) return "modified";
  // A program can set the modification time back; the inode's change time then differs.
  return mode ?? (then.changed === now.changed ? undefined : "touched");
}

function compareSkipped(before: TreeSnapshot, after: TreeSnapshot): SkippedDirectory[] {
  const paths = new Set([...before.skipped.keys(), ...after.skipped.keys()]);
  return [...paths].sort().map(path => {
    const there = before.skipped.has(path) && after.skipped.has(path);
    const [then, now] = [before.skipped.get(path), after.skipped.get(path)];
    const isKnown = then !== undefined && now !== undefined;
    const state = !there ? "changed" : isKnown ? (then === now ? "same" : "changed") : "unknown";
    return { path: display(path), state };
  });
}
