// How much a workspace holds of its own, and whether it may hold more. Measured by looking at what is not shared with
// its base; the last measurement is kept, because a list of many workspaces cannot look at each.
import { join } from "node:path";
import { clock } from "../clock.ts";
import { Fault } from "../fault.ts";
import type { Change } from "../workspace/commit/change.ts";
import { namesIn, unlinkIfThere } from "../workspace/disk/if-there.ts";
import { sys } from "../workspace/disk/syscalls.ts";
import { Handle } from "../workspace/handle.ts";
import { writeNamedFile } from "../workspace/system/named-file.ts";
import { type TreeSize, treeSize } from "../workspace/tree/tree-size.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { Layout } from "./layout.ts";

/** 0: no limit. */
export interface UsageLimits {
  readonly maxBytes: number;
  readonly maxFiles: number;
}

interface Measured {
  bytes: number;
  files: number;
  at: number;
}

/** Stored in the name of an empty file: one listing of a directory returns all sizes. */
interface RecordedSize extends TreeSize {
  /** More than one where two processes measured at the same time. */
  readonly names: readonly string[];
}

/** A measurement is good for this long: commands write without telling. */
const freshMs = 15_000;

export class Usage {
  readonly #layout: Layout;
  readonly #limits: UsageLimits;
  readonly #known = new Map<string, Measured>();
  /** What any process measured, as it was last read. */
  readonly #recorded = new Map<string, RecordedSize>();

  constructor(layout: Layout, limits: UsageLimits) {
    this.#layout = layout;
    this.#limits = limits;
  }

  /** Reads what other processes measured. */
  refresh(): void {
    const recorded = this.#recorded;
    recorded.clear();
    for (const name of namesIn(this.#layout.sizes)) {
      const [, tree, bytes, files] = /^(.+)\.(\d+)\.(\d+)$/.exec(name) ?? [];
      if (tree === undefined) continue;
      const names = [...(recorded.get(tree)?.names ?? []), name];
      recorded.set(tree, { bytes: Number(bytes), files: Number(files), names });
    }
  }

  /** As it was last measured; undefined if it never was, as far as is known since `refresh`. */
  last(tree: string): TreeSize | undefined {
    return this.#known.get(tree) ?? this.#recorded.get(tree);
  }

  /** Whether this process measured it a moment ago. */
  isFresh(tree: string): boolean {
    return clock() - (this.#known.get(tree)?.at ?? Number.NEGATIVE_INFINITY) <= freshMs;
  }

  async measure(tree: string): Promise<TreeSize> {
    const place = join(this.#layout.trees, tree);
    const upper = join(place, "upper");
    using handle = Handle.open(sys.lstat(upper) === undefined ? join(place, "tree") : upper, {
      directory: true,
    });
    const size = await treeSize(handle);
    this.#known.set(tree, { ...size, at: clock() });
    this.#record(tree, size);
    return size;
  }

  /** Not flushed: what a crash takes is measured again. */
  #record(tree: string, { bytes, files }: TreeSize): void {
    const name = `${tree}.${bytes}.${files}`;
    const { names = [] } = this.#recorded.get(tree) ?? {};
    if (names.length === 1 && names[0] === name) return;
    const at = (other: string) => `${this.#layout.sizes}/${other}`;
    writeNamedFile(at(name), "", { flush: false });
    for (const other of names) if (other !== name) unlinkIfThere(at(other));
    this.#recorded.set(tree, { bytes, files, names: [name] });
  }

  forget(tree: string): void {
    this.#known.delete(tree);
    this.refresh();
    for (const name of this.#recorded.get(tree)?.names ?? []) unlinkIfThere(`${this.#layout.sizes}/${name}`);
  }

  /** Refuses changes that would exceed a limit. What only removes is never refused. Faults: `over_quota`. */
  async admit(workspace: Workspace, changes: readonly Change[]): Promise<void> {
    const { maxFiles } = this.#limits;
    const maxBytes = Math.min(this.#limits.maxBytes || Infinity, workspace.maxBytes ?? Infinity);
    if (maxBytes === Infinity && maxFiles === 0) return;
    const tree = treeServed(workspace, this.#layout);
    if (tree === undefined || changes.every(({ kind }) => kind === "remove")) return;
    if (!this.isFresh(tree)) {
      this.refresh();
      await this.measure(tree);
    }
    const known = this.#known.get(tree);
    if (known === undefined) return;
    const added = additions(workspace, changes);
    if (added.bytes > 0 && known.bytes + added.bytes > maxBytes)
      throw new Fault("over_quota", { what: "bytes", limit: maxBytes, used: known.bytes });
    if (maxFiles > 0 && added.files > 0 && known.files + added.files > maxFiles)
      throw new Fault("over_quota", { what: "files", limit: maxFiles, used: known.files });
    known.bytes += added.bytes;
    known.files += added.files;
  }
}

/** The folder of the tree that is served; undefined if it is a directory of the user's. */
function treeServed({ roots: [root] }: Workspace, { trees }: Layout): string | undefined {
  const path = root?.path ?? "";
  return path.startsWith(`${trees}/`) ? path.slice(trees.length + 1).split("/")[0] : undefined;
}

/** At most: what is replaced may have been the workspace's own already. */
function additions(workspace: Workspace, changes: readonly Change[]): TreeSize {
  let [bytes, files] = [0, 0];
  for (const change of changes) {
    if (change.kind === "write") bytes += change.bytes.length;
    else if (change.kind === "move" && change.bytes !== undefined) bytes += change.bytes.length;
    else if (change.kind === "copy") bytes += sizeAt(workspace, change.from) ?? 0;
    if (change.kind === "write" && sizeAt(workspace, change.path) === undefined) files++;
    if (change.kind === "copy") files++;
  }
  return { bytes, files };
}

function sizeAt(workspace: Workspace, path: Parameters<Workspace["lstat"]>[0]): number | undefined {
  try {
    return workspace.lstat(path).size;
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}
