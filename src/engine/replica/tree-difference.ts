// The operations that turn one tree into another: one is on the disk, the other is known from the log. Skipped
// directories (dependencies, caches) belong to this replica alone, and stay.
import { append } from "../append.ts";
import type { Operation } from "../workspace/commit/publish.ts";
import type { TreeEntry } from "../workspace/footprint/tree-snapshot.ts";
import { display } from "../workspace/handle.ts";
import type { Node } from "./tree-state.ts";

/** Either side as one shape. A directory without children was not looked into. */
export interface ComparedNode {
  readonly kind: string;
  readonly hash?: string | undefined;
  readonly size?: number;
  readonly mode?: number;
  readonly target?: string | undefined;
  readonly children?: ReadonlyMap<string, ComparedNode> | undefined;
}

export function sideOfDisk(children: ReadonlyMap<string, TreeEntry>): ComparedNode {
  return {
    kind: "directory",
    children: new Map([...children].map(([name, one]) => [display(name), ofEntry(one)])),
  };
}

function ofEntry({ kind, hash, size, mode, target, children }: TreeEntry): ComparedNode {
  if (kind === "directory")
    return { kind, mode, ...(children && { children: sideOfDisk(children).children }) };
  return { kind, hash, size, mode, target: target && display(target) };
}

/** Turns `from` into `to`. Special files are left alone. */
export function operationsBetween(from: ComparedNode, to: ComparedNode | Node, at = ""): Operation[] {
  const operations: Operation[] = [];
  const [old, wanted] = [from.children, (to as ComparedNode).children];
  if (old === undefined || wanted === undefined) return [];
  const below = (name: string) => (at === "" ? name : `${at}/${name}`);
  for (const [name, one] of old)
    if (!wanted.has(name) && isShared(one)) operations.push({ do: "remove", at: below(name) });
  for (const [name, one] of wanted) append(operations, changing(old.get(name), one, below(name)));
  return operations;
}

/** The same for one path. */
export function changing(from: ComparedNode | undefined, to: ComparedNode, at: string): Operation[] {
  if (from !== undefined && (!isShared(from) || !isShared(to))) return [];
  if (from?.kind === to.kind) {
    if (to.kind === "directory") {
      const mode: Operation[] = from.mode === to.mode ? [] : [{ do: "mode", at, mode: to.mode ?? 0o755 }];
      return [...mode, ...operationsBetween(from, to, at)];
    }
    const same =
      to.kind === "symlink" ? from.target === to.target : from.hash === to.hash && from.mode === to.mode;
    if (same) return [];
    if (to.kind === "file") return made(to, at);
  }
  return [...(from === undefined ? [] : [{ do: "remove", at } as const]), ...made(to, at)];
}

function made(side: ComparedNode, at: string): Operation[] {
  const { kind, hash, size = 0, mode = 0o644, target, children } = side;
  if (kind === "file") return hash === undefined ? [] : [{ do: "write", at, hash, size, mode }];
  if (kind === "symlink") return target === undefined ? [] : [{ do: "symlink", at, target }];
  if (kind !== "directory" || children === undefined) return [];
  const below = [...children].flatMap(([name, child]) => made(child, `${at}/${name}`));
  return [{ do: "mkdir", at, mode }, ...below];
}

/** Whether it is in the log: not what was not looked into, nor files that are too large, nor sockets and devices. */
function isShared({ kind, hash, children, target }: ComparedNode): boolean {
  if (kind === "directory") return children !== undefined;
  return (kind === "file" && hash !== undefined) || (kind === "symlink" && target !== undefined);
}
