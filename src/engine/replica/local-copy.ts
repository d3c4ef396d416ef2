// The files of a replica: applies operations from the log as commits, so that history, undo and subscriptions see
// them as they see the changes of this machine, and finds what was changed on the disk without a commit.

import { append } from "../append.ts";
import { merge } from "../edit/merge.ts";
import { Fault } from "../fault.ts";
import { decode } from "../text/text.ts";
import { contentHash } from "../text/version.ts";
import type { By } from "../workspace/archive/log.ts";
import type { Change } from "../workspace/commit/change.ts";
import type { Operation } from "../workspace/commit/publish.ts";
import { type Keeper, snapshotTree, type TreeEntry } from "../workspace/footprint/tree-snapshot.ts";
import { bytesOf } from "../workspace/handle.ts";
import type { WorkspacePath } from "../workspace/path.ts";
import { under } from "../workspace/root.ts";
import type { Rules } from "../workspace/rules.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { operationsBetween, sideOfDisk } from "./tree-difference.ts";
import type { Node, TreeState } from "./tree-state.ts";

/** The bytes of an object that the log names. */
export type Contents = (hash: string) => Promise<Uint8Array>;

/** What programs fill with what can be made again, and Git's own: these stay on this machine. */
const skip = new Set([".git", "node_modules", ".polyfs", ".venv", "__pycache__", "target", ".gradle"]);
/** A larger file is not shared. */
const maxFileBytes = 256 * 1024 * 1024;
/** A file that changed just now may change again without another time. */
const settledMs = 50;
const mostKnown = 500_000;

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
   * Does what an entry says. Where a file was changed here and not published yet, both changes are merged; `overlapped`
   * is told where that is not possible.
   */
  async apply(
    id: string,
    by: By,
    operations: readonly Operation[],
    state: TreeState,
    contents: Contents,
    overlapped: (at: string) => void = () => {},
  ): Promise<void> {
    const changes: Change[] = [];
    for (const operation of operations)
      append(changes, await this.#changeOf(operation, state, contents, overlapped));
    await this.workspace.commit(changes, { id, by, unmasked: true, irrevocable: "allow", links: "refuse" });
  }

  async #changeOf(
    operation: Operation,
    state: TreeState,
    contents: Contents,
    overlapped: (at: string) => void,
  ): Promise<Change[]> {
    const path = this.path(operation.at);
    switch (operation.do) {
      case "write": {
        const { hash, mode } = operation;
        const bytes = await this.#merged(operation.at, state, await contents(hash), contents, overlapped);
        return [{ kind: "write", path, bytes, mode }];
      }
      case "symlink":
        return [{ kind: "symlink", path, target: operation.target }];
      case "mkdir":
      case "mode":
        return [{ kind: operation.do, path, mode: operation.mode }];
      case "remove":
        return [{ kind: "remove", path, recursive: true }];
      case "copy":
        return [{ kind: "copy", from: this.path(operation.from), to: path, overwrite: true }];
      case "move": {
        const bytes = operation.hash === undefined ? {} : { bytes: await contents(operation.hash) };
        return [{ kind: "move", from: this.path(operation.from), to: path, overwrite: true, ...bytes }];
      }
    }
  }

  /**
   * `theirs`, with what was changed here since the state that the log knows. An overlap is theirs; history has ours. So
   * is a merge that would show what a rule hides in all three.
   */
  async #merged(
    at: string,
    state: TreeState,
    theirs: Uint8Array,
    contents: Contents,
    overlapped: (at: string) => void,
  ): Promise<Uint8Array> {
    const known = state.get(at);
    const ours = this.read(at);
    if (ours === undefined || known?.kind !== "file") return theirs;
    const hash = contentHash(ours);
    if (hash === known.hash || hash === contentHash(theirs)) return theirs;
    try {
      const sources = [await contents(known.hash), ours, theirs].map(bufferOf);
      const [base, mine, current] = await Promise.all(sources.map(bytes => decode(at, bytes)));
      if (base === undefined || mine === undefined || current === undefined) return theirs;
      const merged = await merge(base, { text: mine }, current);
      if ("text" in merged) {
        const { bytes } = merged.text;
        const path = under(this.root, at);
        const origins = sources.map(source => ({ at: path, bytes: source }));
        this.#rules()?.admitMade(origins, path, bufferOf(bytes), at);
        return bytes;
      }
    } catch (error) {
      if (!(error instanceof Fault) || error.code === "store_unavailable") throw error; // else: no text, or refused by a rule
    }
    overlapped(at);
    return theirs;
  }

  isDirectory(at: string): boolean {
    try {
      return this.workspace.lstat(this.path(at)).kind === "directory";
    } catch (error) {
      if (error instanceof Fault) return false;
      throw error;
    }
  }

  /** The bytes of a file; undefined where there is none. */
  read(at: string): Buffer | undefined {
    try {
      using file = this.workspace.unmaskedFile(this.path(at));
      return file.readNow(0, file.stat.size + 1);
    } catch (error) {
      if (error instanceof Fault) return undefined;
      throw error;
    }
  }

  /** What has to be published for the log to say what is on the disk. */
  async unpublished(state: TreeState): Promise<Operation[]> {
    return operationsBetween(state.root as Parameters<typeof operationsBetween>[0], await this.#disk());
  }

  /** What has to be done for the disk to hold what the log says. */
  async unapplied(state: TreeState): Promise<Operation[]> {
    return operationsBetween(await this.#disk(), state.root as Node);
  }

  async #disk() {
    const keeper: Keeper = {
      maxBytes: Number.POSITIVE_INFINITY,
      keep: async (_, entry, open) => {
        const key = `${entry.device}:${entry.inode}:${entry.changed}:${entry.size}`;
        const known = this.#known.get(key);
        if (known !== undefined || entry.size > maxFileBytes) return known;
        using file = open();
        const hash = contentHash(await file.bytes(maxFileBytes));
        if (this.#known.size >= mostKnown) this.#known.clear();
        if (isSettled(entry)) this.#known.set(key, hash);
        return hash;
      },
    };
    const absent = this.workspace.ownDirectories();
    const options = { maxEntries: Number.POSITIVE_INFINITY, skip, absent, keeper };
    const { roots } = await snapshotTree(this.workspace.roots, options);
    return sideOfDisk(roots.get(bytesOf(this.root)) ?? new Map());
  }
}

function isSettled({ changed }: TreeEntry): boolean {
  return Number(changed / 1_000_000n) < Date.now() - settledMs;
}

function bufferOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}
