// The files of a replica: applies operations from the log as commits, so that history, undo and subscriptions see
// them as they see the changes of this machine, and finds what was changed on the disk without a commit.

import { append } from "../append.ts";
import { merge } from "../edit/merge.ts";
import { Fault } from "../fault.ts";
import { decode, rewriteRaw } from "../text/text.ts";
import { contentHash } from "../text/version.ts";
import type { By } from "../workspace/archive/log.ts";
import type { Change } from "../workspace/commit/change.ts";
import type { Operation, Publication } from "../workspace/commit/publish.ts";
import { faultOf, isUnanswered, isWithoutRoom } from "../workspace/errno.ts";
import type { OpenFile } from "../workspace/file.ts";
import {
  type Keeper,
  skippedDirectories,
  snapshotTree,
  type TreeEntry,
} from "../workspace/footprint/tree-snapshot.ts";
import type { WorkspacePath } from "../workspace/path.ts";
import { Root, under } from "../workspace/root.ts";
import type { Rules } from "../workspace/rules.ts";
import { isWithinAny } from "../workspace/within.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type ComparedNode, changing, operationsBetween, sideOfDisk } from "./tree-difference.ts";
import type { Node, TreeState } from "./tree-state.ts";

/** The bytes of an object that the log names. */
export type Contents = (hash: string) => Promise<Uint8Array>;

/** A larger file is not shared. */
const maxFileBytes = 256 * 1024 * 1024;
/** A file that changed just now may change again without another time. */
const settledMs = 50;
const mostKnown = 500_000;
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
  readonly #rules: () => Rules | undefined;
  /** Hashes of files, by the stamp that shows that they did not change. */
  readonly #known = new Map<string, string>();

  /**
   * `workspace` has one root, and no rules: they were checked when the change was made. `rules` are those of the server,
   * for what a merge puts together.
   */
  constructor(workspace: Workspace, rules: () => Rules | undefined) {
    this.workspace = workspace;
    this.#rules = rules;
  }

  get root(): string {
    return this.workspace.roots[0]?.path ?? "/";
  }

  path(at: string): WorkspacePath {
    return this.workspace.recorded(under(this.root, at));
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
        const isFree = compares && !made.has(operation.at) && this.#lstat(operation.at) === undefined;
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
    const path = this.path(operation.at);
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
        return [{ kind: "copy", from: this.path(operation.from), to: path, overwrite: !how.isFree }];
      case "move": {
        const bytes = operation.hash === undefined ? {} : { bytes: await contents(operation.hash) };
        // A move with new content does not keep what it replaces.
        const isEdited = operation.hash !== undefined && how.compares && !isRespelled(operation);
        const isReplaced = isEdited && this.#lstat(operation.at)?.kind === "file";
        return [
          ...(isReplaced ? [{ kind: "remove", path } as const] : []),
          { kind: "move", from: this.path(operation.from), to: path, overwrite: !how.isFree, ...bytes },
        ];
      }
    }
  }

  /** Removes what the others know. Files that are too large to share stay, with their directories. */
  async #removals(at: string): Promise<Change[]> {
    const all: Change = { kind: "remove", path: this.path(at), recursive: true };
    if (!this.isDirectory(at)) return [all];
    const { children } = await this.#contentAt(at, "directory");
    if (children === undefined || !holdsUnshared(children)) return [all];
    return sharedIn(children, at).map(one => ({ kind: "remove", path: this.path(one), recursive: true }));
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
    const ours = this.read(at);
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
    const found = await this.#unpublishedAt(operation.at, state);
    if (operation.do === "move" && operation.hash !== undefined)
      append(found, await this.#unpublishedAt(operation.from, state));
    return found.filter(one => one.do === "write" || one.do === "symlink").map(({ at }) => at);
  }

  /** The hashes of the files that operations remove or replace, with their paths. */
  async filesIn(operations: readonly Operation[]): Promise<Map<Operation, Map<string, string>>> {
    const found = new Map<Operation, Map<string, string>>();
    for (const operation of operations) {
      if (operation.do !== "remove" && operation.do !== "write") continue;
      const there = this.#lstat(operation.at);
      if (there === undefined) continue;
      const files = new Map(
        filesOf({ ...there, ...(await this.#contentAt(operation.at, there.kind)) }, operation.at),
      );
      if (files.size > 0) found.set(operation, files);
    }
    return found;
  }

  /** Whether an operation removes what is not here, and puts nothing in its place. */
  isGone({ do: what, at }: Operation): boolean {
    return what === "remove" && this.#lstat(at) === undefined;
  }

  isDirectory(at: string): boolean {
    return this.#lstat(at)?.kind === "directory";
  }

  #lstat(at: string): ReturnType<Workspace["lstat"]> | undefined {
    return this.#ifThere(() => this.workspace.lstat(this.path(at)));
  }

  #ifThere<T>(action: () => T): T | undefined {
    try {
      return action();
    } catch (error) {
      if (!(error instanceof Fault) || isUnanswered(error)) throw error;
      return undefined;
    }
  }

  /** The bytes of a file; undefined if there is none, or it is larger. */
  read(at: string, limit = Number.POSITIVE_INFINITY): Buffer | undefined {
    return this.#ifThere(() => {
      using file = this.workspace.unmaskedFile(this.path(at));
      return file.stat.size > limit ? undefined : file.readNow(0, file.stat.size + 1);
    });
  }

  /** The operations to publish, so that the log matches the disk. */
  async unpublished(state: TreeState): Promise<Operation[]> {
    return operationsBetween(state.root as Parameters<typeof operationsBetween>[0], await this.#disk());
  }

  /**
   * The same for what a change is about to write, remove, move or copy, and for the directories above it: others could
   * not repeat the change without it.
   */
  async unpublishedIn(
    operations: readonly Operation[],
    state: TreeState,
    bases?: Publication["bases"],
  ): Promise<Operation[]> {
    const found = new Map<string, Operation>();
    const add = (one: Operation) => void found.set(`${one.do} ${one.at}`, one);
    for (const operation of operations) {
      const places = "from" in operation ? [operation.from, operation.at] : [operation.at];
      for (const at of places) this.#unpublishedAbove(at, state).forEach(add);
      if (this.#isReplaced(operation.at, state)) add({ do: "remove", at: operation.at });
      if ("from" in operation)
        (await this.#unpublishedAt(operation.from, state, { skipped: true })).forEach(add);
      else if (operation.do === "remove" && this.isDirectory(operation.at))
        (await this.#unpublishedAt(operation.at, state)).forEach(add);
      else this.#unpublishedFile(operation, state, bases).forEach(add);
    }
    return [...found.values()];
  }

  /** Whether the log has something at a path that is gone here, or is of another kind. */
  #isReplaced(at: string, state: TreeState): boolean {
    const known = state.get(at);
    if (known === undefined) return false;
    try {
      return this.workspace.lstat(this.path(at)).kind !== known.kind;
    } catch (error) {
      if (Fault.is(error, "not_found")) return true;
      throw error;
    }
  }

  #unpublishedFile(operation: Operation, state: TreeState, bases?: Publication["bases"]): Operation[] {
    const { at } = operation;
    const known = state.get(at);
    if (operation.do !== "write" && operation.do !== "remove") return [];
    if (known !== undefined && known.kind !== "file") return [];
    const bytes = bases?.get(at) ?? this.read(at, maxFileBytes);
    if (bytes === undefined) return [];
    const hash = contentHash(bytes);
    if (hash === known?.hash) return [];
    const mode = known?.mode ?? ("mode" in operation ? operation.mode : 0o644);
    return [{ do: "write", at, hash, size: bytes.length, mode }];
  }

  #unpublishedAbove(at: string, state: TreeState): Operation[] {
    const names = at.split("/").slice(0, -1);
    return names.flatMap((_, i): Operation[] => {
      const path = names.slice(0, i + 1).join("/");
      const known = state.get(path);
      const there = this.#lstat(path);
      if (known?.kind === "directory" || there?.kind !== "directory") return [];
      const made = { do: "mkdir", at: path, mode: there.mode } as const;
      return known === undefined ? [made] : [{ do: "remove", at: path }, made];
    });
  }

  /**
   * The same for what is at a path and below it. `skipped`: also where that belongs to this replica alone, as for what is
   * moved or copied out of there.
   */
  async #unpublishedAt(at: string, state: TreeState, { skipped = false } = {}): Promise<Operation[]> {
    const there = this.#lstat(at);
    if (there === undefined) return [];
    if (!skipped && at.split("/").some(name => skippedDirectories.has(name))) return [];
    return changing(state.get(at), { ...there, ...(await this.#contentAt(at, there.kind)) }, at);
  }

  async #contentAt(at: string, kind: string): Promise<Partial<ComparedNode>> {
    if (kind === "file") {
      const bytes = this.read(at, maxFileBytes);
      return bytes === undefined ? {} : { hash: contentHash(bytes) };
    }
    const root = kind === "directory" && this.#ifThere(() => new Root(under(this.root, at), "read-only"));
    if (!root) return {};
    using _ = root;
    return { children: (await this.#below(root)).children };
  }

  /** The operations that make the disk match the log. */
  async unapplied(state: TreeState): Promise<Operation[]> {
    return operationsBetween(await this.#disk(), state.root as Node);
  }

  async #disk(): Promise<ComparedNode> {
    this.workspace.takeBack(); // half of a commit is not a change
    return await this.#below(...this.workspace.roots);
  }

  async #below(...roots: readonly Root[]): Promise<ComparedNode> {
    let unanswered: unknown;
    const keeper: Keeper = {
      maxBytes: Number.POSITIVE_INFINITY,
      keep: async (_, entry, open) => {
        const key = `${entry.device}:${entry.inode}:${entry.changed}:${entry.size}`;
        const known = this.#known.get(key);
        if (known !== undefined || entry.size > maxFileBytes) return known;
        const hash = await hashOf(open).catch(error => {
          if (isUnanswered(error)) unanswered ??= error;
          throw error;
        });
        if (this.#known.size >= mostKnown) this.#known.clear();
        if (isSettled(entry)) this.#known.set(key, hash);
        return hash;
      },
    };
    const absent = this.workspace.ownDirectories();
    const options = { maxEntries: Number.POSITIVE_INFINITY, skip: skippedDirectories, absent, keeper };
    const { roots: found, complete } = await snapshotTree(roots, options);
    // What could not be looked at would be taken for removed, on every machine.
    if (!complete) throw new Fault("io", { path: this.root, errno: "EIO", call: "scandir" });
    // What could not be read would be taken for unchanged, or be overwritten.
    if (unanswered !== undefined) throw faultOf(unanswered, this.root);
    return sideOfDisk(found.values().next().value ?? new Map());
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

async function hashOf(open: () => OpenFile): Promise<string> {
  using file = open();
  return contentHash(await file.bytes(maxFileBytes));
}

function isSettled({ changed }: TreeEntry): boolean {
  return Number(changed / 1_000_000n) < Date.now() - settledMs;
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

function* filesOf({ hash, children = new Map() }: ComparedNode, at: string): Generator<[string, string]> {
  if (hash !== undefined) yield [at, hash];
  for (const [name, one] of children) yield* filesOf(one, `${at}/${name}`);
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
