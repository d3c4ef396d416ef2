// Applies operations from the log to the files of a replica as commits, so that history, undo and subscriptions see
// them as they see the changes of this machine.

import { append } from "../append.ts";
import { merge } from "../edit/merge.ts";
import { Fault } from "../fault.ts";
import { decode, rewriteRaw } from "../text/text.ts";
import { contentHash } from "../text/version.ts";
import type { By } from "../workspace/archive/log.ts";
import type { Change } from "../workspace/commit/change.ts";
import type { Operation, Publication } from "../workspace/commit/publish.ts";
import { isUnanswered, isWithoutRoom } from "../workspace/errno.ts";
import { under } from "../workspace/root.ts";
import type { Rules } from "../workspace/rules.ts";
import { isWithinAny } from "../workspace/within.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { CopyFiles } from "./copy-files.ts";
import type { ComparedNode } from "./tree-difference.ts";
import type { TreeState } from "./tree-state.ts";

/** The bytes of an object that the log names. */
export type Contents = (hash: string) => Promise<Uint8Array>;

/** How often a change is computed again because a program writes into its files. */
const attempts = 10;

interface ApplyOptions {
  /** Is called for each file in which something that is not published gives way, because it cannot be merged. */
  readonly overlapped?: (at: string) => void;
  /** What a change of this machine was computed from, by path. */
  readonly bases?: Publication["bases"] | undefined;
  /**
   * What was changed here was answered, perhaps to several callers: of a file, only the lines that overlap give way. A
   * command's work gives way as a whole, and its answer says so. Half of what it wrote may be useless.
   */
  readonly holdsAnswered?: boolean;
  /** Default: what the history cannot keep is lost. */
  readonly irrevocable?: "refuse" | "allow";
}

interface Applying extends ApplyOptions {
  readonly state: TreeState;
  readonly contents: Contents;
  readonly overlapped: (at: string) => void;
  /** Whether a file must still hold what the change was computed from. */
  readonly compares: boolean;
  /** Nothing was at the path. What a program makes there meanwhile must not be replaced without a word. */
  readonly isFree: boolean;
}

export class LocalCopy {
  readonly workspace: Workspace;
  readonly files: CopyFiles;
  readonly #rules: () => Rules | undefined;

  /**
   * `workspace` has one root, and no rules: they were checked when the change was made. `rules` are those of the server,
   * for what a merge puts together.
   */
  constructor(workspace: Workspace, rules: () => Rules | undefined) {
    this.workspace = workspace;
    this.files = new CopyFiles(workspace);
    this.#rules = rules;
  }

  get root(): string {
    return this.files.root;
  }

  /**
   * Applies a log entry to the local copy. Unpublished local changes to the same files, including those that another
   * program makes while this runs, are merged in.
   */
  async apply(
    id: string,
    by: By,
    operations: readonly Operation[],
    state: TreeState,
    contents: Contents,
    { overlapped, irrevocable = "allow", ...options }: ApplyOptions = {},
  ): Promise<void> {
    for (let round = 1; ; round++) {
      const overlaps = new Set<string>();
      const how = { ...options, state, contents, overlapped: (at: string) => overlaps.add(at) };
      const changes: Change[] = [];
      const moved = new Set<string>();
      const made = new Set<string>();
      for (const operation of operations) {
        // The last round wins over a program that does not stop writing.
        const compares = round < attempts && !isWithinAny(operation.at, moved);
        const isFree = compares && !made.has(operation.at) && this.files.lstat(operation.at) === undefined;
        append(changes, await this.#changeOf(operation, { ...how, compares, isFree }));
        made.add(operation.at);
        if (overlapped !== undefined)
          for (const at of await this.#replacedBy(operation, state)) overlaps.add(at);
        if (operation.do !== "write") moved.add(operation.at);
        if (operation.do === "move") moved.add(operation.from);
      }
      try {
        const commit = { id, by, unmasked: true, irrevocable, links: "refuse" } as const;
        await this.workspace.commit(changes, commit);
        for (const at of overlaps) overlapped?.(at);
        return;
      } catch (error) {
        const isMeanwhile =
          Fault.is(error, "changed_meanwhile") || (isTaken(changes) && Fault.is(error, "exists"));
        if (round >= attempts || !isMeanwhile) throw error;
      }
    }
  }

  async #changeOf(operation: Operation, how: Applying): Promise<Change[]> {
    const { contents } = how;
    const path = this.files.path(operation.at);
    switch (operation.do) {
      case "write": {
        const { hash, mode } = operation;
        const { bytes, onto } = await this.#merged(operation.at, await contents(hash), how);
        const same = (there: Buffer) => contentHash(there) === onto;
        const expect = how.isFree ? "absent" : how.compares && onto !== undefined ? same : undefined;
        return [{ kind: "write", path, bytes, mode, ...(expect !== undefined && { expect }) }];
      }
      case "symlink":
        return [{ kind: "symlink", path, target: operation.target }];
      case "mkdir":
      case "mode":
        return [{ kind: operation.do, path, mode: operation.mode }];
      case "remove":
        return await this.#removals(operation.at);
      case "copy":
        return [{ kind: "copy", from: this.files.path(operation.from), to: path, overwrite: !how.isFree }];
      case "move": {
        const bytes = operation.hash === undefined ? {} : { bytes: await contents(operation.hash) };
        // A move with new content does not keep what it replaces.
        const isEdited = operation.hash !== undefined && how.compares && !isRespelled(operation);
        const isReplaced = isEdited && this.files.lstat(operation.at)?.kind === "file";
        return [
          ...(isReplaced ? [{ kind: "remove", path } as const] : []),
          { kind: "move", from: this.files.path(operation.from), to: path, overwrite: !how.isFree, ...bytes },
        ];
      }
    }
  }

  /** Removes what the others know. Files that are too large to share stay, with their directories. */
  async #removals(at: string): Promise<Change[]> {
    const all: Change = { kind: "remove", path: this.files.path(at), recursive: true };
    if (!this.files.isDirectory(at)) return [all];
    const { children } = await this.files.contentAt(at, "directory");
    if (children === undefined || !holdsUnshared(children)) return [all];
    return sharedIn(children, at).map(one => ({
      kind: "remove",
      path: this.files.path(one),
      recursive: true,
    }));
  }

  /**
   * `theirs`, with what was changed here since the state that the log knows. An overlap is theirs; history has ours. So
   * is a merge that would show what a rule hides in all three. `onto`: the hash of what was found here.
   */
  async #merged(
    at: string,
    theirs: Uint8Array,
    { state, contents, overlapped, bases, holdsAnswered = false }: Applying,
  ): Promise<{ readonly bytes: Uint8Array; readonly onto?: string }> {
    const known = state.get(at);
    const ours = this.files.read(at);
    if (ours === undefined || known?.kind !== "file") {
      const isRemovedHere = ours === undefined && known?.kind === "file";
      const isMadeHere = ours !== undefined && known === undefined;
      if (isRemovedHere || (isMadeHere && contentHash(ours) !== contentHash(theirs))) overlapped(at);
      return { bytes: theirs, ...(ours !== undefined && { onto: contentHash(ours) }) };
    }
    const onto = contentHash(ours);
    const own = bases?.get(at);
    const from = own === undefined ? known.hash : contentHash(own);
    if (onto === from || onto === contentHash(theirs)) return { bytes: theirs, onto };
    try {
      const sources = [own ?? (await contents(from)), ours, theirs].map(bufferOf);
      const [base, mine, current] = await Promise.all(sources.map(bytes => decode(at, bytes)));
      if (base === undefined || mine === undefined || current === undefined) return { bytes: theirs, onto };
      const merged = await merge(base, { text: mine }, current);
      if ("overlaps" in merged) overlapped(at);
      if ("overlaps" in merged && !holdsAnswered) return { bytes: theirs, onto };
      const { bytes } = "text" in merged ? merged.text : rewriteRaw(current, merged.rest);
      const path = under(this.root, at);
      const origins = sources.map(source => ({ at: path, bytes: source }));
      this.#rules()?.admitMade(origins, path, bufferOf(bytes), at);
      return { bytes, onto };
    } catch (error) {
      // No text, or refused by a rule: an overlap. A disk or a store that does not answer proves nothing.
      if (!(error instanceof Fault) || error.code === "store_unavailable" || isUnanswered(error)) throw error;
    }
    overlapped(at);
    return { bytes: theirs, onto };
  }

  /** Files that an operation from elsewhere removes or replaces, and that hold something that is not published. */
  async #replacedBy(operation: Operation, state: TreeState): Promise<string[]> {
    if (operation.do === "write" || operation.do === "mkdir" || operation.do === "mode") return [];
    const found = await this.files.unpublishedAt(operation.at, state);
    if (operation.do === "move" && operation.hash !== undefined)
      append(found, await this.files.unpublishedAt(operation.from, state));
    return found.filter(one => one.do === "write" || one.do === "symlink").map(({ at }) => at);
  }
}

/**
 * Whether a change cannot be made because the copy is not what the log says. A process that has run out of something, a
 * disk that is full or fails, and a file that is locked say nothing about that: the change must still be made.
 */
export function isDisagreement(error: unknown): error is Fault {
  if (!(error instanceof Fault) || isUnanswered(error) || isWithoutRoom(error)) return false;
  return error.code !== "store_unavailable" && error.code !== "locked";
}

/** Whether two names may be one file, on a file system that does not tell them apart. */
function isRespelled({ from, at }: { readonly from: string; readonly at: string }): boolean {
  return from.normalize("NFC").toLowerCase() === at.normalize("NFC").toLowerCase();
}

/** Whether something has to be free: a program may have taken it. */
function isTaken(changes: readonly Change[]): boolean {
  return changes.some(
    one =>
      (one.kind === "write" && one.expect === "absent") || ("overwrite" in one && one.overwrite === false),
  );
}

function bufferOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

type ComparedChildren = NonNullable<ComparedNode["children"]>;

/** Whether a file is too large to share. It is in no log and in no history, so nothing could bring it back. */
function isTooLarge({ kind, hash }: ComparedNode): boolean {
  return kind === "file" && hash === undefined;
}

function holdsUnshared(children: ComparedChildren): boolean {
  for (const one of children.values())
    if (isTooLarge(one) || (one.children !== undefined && holdsUnshared(one.children))) return true;
  return false;
}

/** What can be removed below a directory without the files that are too large. */
function sharedIn(children: ComparedChildren, at: string): string[] {
  return [...children].flatMap(([name, one]) => {
    if (isTooLarge(one)) return [];
    const below = `${at}/${name}`;
    return one.children !== undefined && holdsUnshared(one.children)
      ? sharedIn(one.children, below)
      : [below];
  });
}
