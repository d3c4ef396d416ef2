// What is at a path on one side of a merge: in the frozen base, in the fork, or in the base as it is now.
import { join } from "node:path";
import { Fault, type FaultCode, type Kind } from "../fault.ts";
import { once } from "../once.ts";
import { contentAt } from "../workspace/disk/if-there.ts";
import { isTemporaryName } from "../workspace/disk/temporary.ts";
import { ifThere, system } from "../workspace/errno.ts";
import { addressOf } from "../workspace/footprint/raw-names.ts";
import { bytesOf, display, type Handle } from "../workspace/handle.ts";
import type { WorkspacePath } from "../workspace/path.ts";
import { factsAt } from "../workspace/tree/tree-difference.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** Nothing at a path is `undefined`. */
export interface SideAtPath {
  readonly kind: Kind;
  /** Permission bits. */
  readonly mode: number;
  /** Where a link points, in written form (name.ts). */
  readonly target?: string;
  /** Of a file in a workspace: another one each time that it is written. */
  readonly stamp?: string;
  /** Of a file in a tree: milliseconds since 1970. */
  readonly modified?: number;
  /** Of a file. */
  bytes(): Promise<Buffer>;
}

/** A tree, by paths from its root in written form. */
export interface TreeView {
  at(path: string): SideAtPath | undefined;
}

/** The largest file that is merged. */
const maxFileBytes = 512 * 1024 * 1024;

/** A frozen tree, which only the server reads. */
export class FrozenView implements TreeView {
  readonly #tree: Handle;

  constructor(tree: Handle) {
    this.#tree = tree;
  }

  at(path: string): SideAtPath | undefined {
    const address = this.#tree.below(addressOf(bytesOf(path)));
    const facts = system(display(bytesOf(path)), () => ifThere(() => factsAt(address)));
    if (facts === undefined) return undefined;
    const { kind, mode, target, size, modified } = facts;
    return {
      kind,
      mode,
      ...(target !== undefined && { target: display(target) }),
      ...(kind === "file" && { modified: Number(modified / 1_000_000n) }),
      bytes: async () => {
        if (size > maxFileBytes) throw new Fault("too_large", { path, size, limit: maxFileBytes });
        const bytes = contentAt(address, maxFileBytes);
        if (bytes === undefined) throw new Fault("not_found", { path });
        return bytes;
      },
    };
  }
}

/** A workspace as it is. A link above a path is not followed: what is behind it is somewhere else. */
export class LiveView implements TreeView {
  readonly workspace: Workspace;
  readonly #directories = new Map<string, boolean>();

  constructor(workspace: Workspace) {
    this.workspace = workspace;
  }

  pathOf(path: string): WorkspacePath {
    return this.workspace.recorded(join(this.workspace.roots[0]?.path ?? "", path));
  }

  /** Whether a rule hides a path completely. */
  isHidden(path: string): boolean {
    return this.workspace.isHidden(this.pathOf(path).absolute);
  }

  /** Whether callers see the real bytes of a path. */
  isShownWhole(path: string): boolean {
    return this.workspace.isShownWhole(this.pathOf(path).absolute);
  }

  at(path: string): SideAtPath | undefined {
    const slash = path.lastIndexOf("/");
    if (slash > 0 && !this.isDirectory(path.slice(0, slash))) return undefined;
    return this.#sideAt(path);
  }

  isDirectory(path: string): boolean {
    let known = this.#directories.get(path);
    known ??= this.at(path)?.kind === "directory";
    this.#directories.set(path, known);
    return known;
  }

  /** The names in a directory. Temporary files of the server are not among them. */
  namesIn(path: string): string[] {
    using directory = this.workspace.directory(this.pathOf(path));
    return directory
      .entries()
      .map(({ name }) => name)
      .filter(name => !isTemporaryName(name));
  }

  #sideAt(path: string): SideAtPath | undefined {
    const at = this.pathOf(path);
    try {
      const { kind, mode, target, inode, modified: time } = this.workspace.lstat(at);
      const modified = time.getTime();
      return {
        kind,
        mode,
        ...(target !== undefined && { target }),
        ...(kind === "file" && { stamp: `${inode} ${modified}`, modified }),
        // Read once: a merge is computed from the same bytes that it later expects to find. Faults: `changed_meanwhile`.
        bytes: once(async () => {
          try {
            using file = await this.workspace.openUnmasked(at);
            return await file.bytes(maxFileBytes);
          } catch (error) {
            throw isGone(error) ? new Fault("changed_meanwhile", { path }) : error;
          }
        }),
      };
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
  }
}

const goneCodes: ReadonlySet<FaultCode> = new Set<FaultCode>(["not_found", "not_a_directory", "not_a_file"]);

function isGone(error: unknown): boolean {
  return error instanceof Fault && goneCodes.has(error.code);
}

/** Whether two sides are the same: kinds, modes, targets and bytes. */
export async function isSameSide(a: SideAtPath | undefined, b: SideAtPath | undefined): Promise<boolean> {
  if (a === undefined || b === undefined) return a === b;
  if (a.kind !== b.kind) return false;
  if (a.kind === "symlink") return a.target === b.target;
  if (a.mode !== b.mode) return false;
  return a.kind !== "file" || (await a.bytes()).equals(await b.bytes());
}

/**
 * Like `isSameSide`, for a masked file: whether the fork has left it unwritten since `before`. Contents are not compared,
 * because that would tell a caller whether a guess of the hidden value is right.
 */
export async function isUnwritten(
  before: SideAtPath | undefined,
  after: SideAtPath | undefined,
): Promise<boolean> {
  if (before?.kind !== "file" || after?.kind !== "file") return await isSameSide(before, after);
  return before.mode === after.mode && after.stamp !== undefined && before.stamp === after.stamp;
}
