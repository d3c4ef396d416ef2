// The files of a replica as they are on the disk: what they hold, and how that differs from the tree of the log.

import { Fault } from "../fault.ts";
import { contentHash } from "../text/version.ts";
import type { Operation, Publication } from "../workspace/commit/publish.ts";
import { faultOf, isUnanswered } from "../workspace/errno.ts";
import type { OpenFile } from "../workspace/file.ts";
import {
  type Keeper,
  skippedDirectories,
  snapshotTree,
  type TreeEntry,
} from "../workspace/footprint/tree-snapshot.ts";
import type { WorkspacePath } from "../workspace/path.ts";
import { Root, under } from "../workspace/root.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type ComparedNode, changing, operationsBetween, sideOfDisk } from "./tree-difference.ts";
import type { Node, TreeState } from "./tree-state.ts";

/** A larger file is not shared. */
const maxFileBytes = 256 * 1024 * 1024;
/** A file that changed just now may change again without another time. */
const settledMs = 50;
const mostKnown = 500_000;

export class CopyFiles {
  readonly workspace: Workspace;
  /** Hashes of files, by the stamp that shows that they did not change. */
  readonly #known = new Map<string, string>();

  /** `workspace` has one root, and no rules. */
  constructor(workspace: Workspace) {
    this.workspace = workspace;
  }

  get root(): string {
    return this.workspace.roots[0]?.path ?? "/";
  }

  path(at: string): WorkspacePath {
    return this.workspace.recorded(under(this.root, at));
  }

  /** The hashes of the files that operations remove or replace, with their paths. */
  async filesIn(operations: readonly Operation[]): Promise<Map<Operation, Map<string, string>>> {
    const found = new Map<Operation, Map<string, string>>();
    for (const operation of operations) {
      if (operation.do !== "remove" && operation.do !== "write") continue;
      const there = this.lstat(operation.at);
      if (there === undefined) continue;
      const files = new Map(
        filesOf({ ...there, ...(await this.contentAt(operation.at, there.kind)) }, operation.at),
      );
      if (files.size > 0) found.set(operation, files);
    }
    return found;
  }

  /** Whether an operation removes what is not here, and puts nothing in its place. */
  isGone({ do: what, at }: Operation): boolean {
    return what === "remove" && this.lstat(at) === undefined;
  }

  isDirectory(at: string): boolean {
    return this.lstat(at)?.kind === "directory";
  }

  lstat(at: string): ReturnType<Workspace["lstat"]> | undefined {
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
        (await this.unpublishedAt(operation.from, state, { skipped: true })).forEach(add);
      else if (operation.do === "remove" && this.isDirectory(operation.at))
        (await this.unpublishedAt(operation.at, state)).forEach(add);
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
      const there = this.lstat(path);
      if (known?.kind === "directory" || there?.kind !== "directory") return [];
      const made = { do: "mkdir", at: path, mode: there.mode } as const;
      return known === undefined ? [made] : [{ do: "remove", at: path }, made];
    });
  }

  /**
   * The same for what is at a path and below it. `skipped`: also where that belongs to this replica alone, as for what is
   * moved or copied out of there.
   */
  async unpublishedAt(at: string, state: TreeState, { skipped = false } = {}): Promise<Operation[]> {
    const there = this.lstat(at);
    if (there === undefined) return [];
    if (!skipped && at.split("/").some(name => skippedDirectories.has(name))) return [];
    return changing(state.get(at), { ...there, ...(await this.contentAt(at, there.kind)) }, at);
  }

  /** The hash of a file, or what a directory holds. */
  async contentAt(at: string, kind: string): Promise<Partial<ComparedNode>> {
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

async function hashOf(open: () => OpenFile): Promise<string> {
  using file = open();
  return contentHash(await file.bytes(maxFileBytes));
}

function isSettled({ changed }: TreeEntry): boolean {
  return Number(changed / 1_000_000n) < Date.now() - settledMs;
}

function* filesOf({ hash, children = new Map() }: ComparedNode, at: string): Generator<[string, string]> {
  if (hash !== undefined) yield [at, hash];
  for (const [name, one] of children) yield* filesOf(one, `${at}/${name}`);
}
