// What a workspace holds after a number of entries, without the contents: the operations of its log, applied to a tree
// of names. Every replica that has applied the same entries has the same tree.
import type { Operation } from "../workspace/commit/publish.ts";

export interface FileNode {
  readonly kind: "file";
  readonly hash: string;
  readonly size: number;
  readonly mode: number;
}

export interface LinkNode {
  readonly kind: "symlink";
  readonly target: string;
}

export interface DirectoryNode {
  readonly kind: "directory";
  readonly mode: number;
  readonly children: Map<string, Node>;
}

export type Node = FileNode | LinkNode | DirectoryNode;

export class TreeState {
  readonly root: DirectoryNode = { kind: "directory", mode: 0o755, children: new Map() };

  get(path: string): Node | undefined {
    let at: Node | undefined = this.root;
    for (const name of namesOf(path)) at = at?.kind === "directory" ? at.children.get(name) : undefined;
    return at;
  }

  /** Whether its path is already what the operation would make it. */
  has(operation: Operation): boolean {
    const there = this.get(operation.at);
    if (operation.do === "remove") return there === undefined;
    if (operation.do === "write") return there?.kind === "file" && there.hash === operation.hash;
    if (operation.do === "symlink") return there?.kind === "symlink" && there.target === operation.target;
    return there?.kind === "directory";
  }

  /**
   * Applies an entry. As in a commit, what is copied or moved is what was there before the entry: another operation may
   * have removed the directory that held it.
   */
  applyAll(operations: readonly Operation[]): void {
    const sources = operations.map(operation => {
      const source = "from" in operation ? this.get(operation.from) : undefined;
      return source && operation.do === "copy" ? copied(source) : source;
    });
    for (const [i, operation] of operations.entries()) this.#apply(operation, sources[i]);
  }

  #apply(operation: Operation, source: Node | undefined): void {
    switch (operation.do) {
      case "write": {
        const { hash, size, mode } = operation;
        this.#set(operation.at, { kind: "file", hash, size, mode });
        break;
      }
      case "symlink":
        this.#set(operation.at, { kind: "symlink", target: operation.target });
        break;
      case "mkdir":
      case "mode": {
        const there = this.get(operation.at);
        const children = there?.kind === "directory" ? there.children : new Map<string, Node>();
        this.#set(operation.at, { kind: "directory", mode: operation.mode, children });
        break;
      }
      case "remove":
        this.#remove(operation.at);
        break;
      case "copy":
        if (source !== undefined) this.#set(operation.at, source);
        break;
      case "move": {
        const moved = this.get(operation.from) ?? source;
        if (moved === undefined) break;
        this.#remove(operation.from);
        const { hash, size } = operation;
        const edited = moved.kind === "file" && hash !== undefined && { hash, size: size ?? 0 };
        this.#set(operation.at, edited ? { ...moved, ...edited } : moved);
        break;
      }
    }
  }

  /** Every file, with its path. */
  *files(node: Node = this.root, path = ""): Generator<readonly [path: string, file: FileNode]> {
    if (node.kind === "file") yield [path, node];
    if (node.kind !== "directory") return;
    for (const [name, child] of node.children)
      yield* this.files(child, path === "" ? name : `${path}/${name}`);
  }

  /** Directories above it are made where they are missing: a log that was damaged must not stop everything. */
  #set(path: string, node: Node): void {
    const names = namesOf(path);
    const last = names.pop();
    if (last === undefined) return;
    let at = this.root;
    for (const name of names) {
      const below = at.children.get(name);
      const next: DirectoryNode =
        below?.kind === "directory" ? below : { kind: "directory", mode: 0o755, children: new Map() };
      at.children.set(name, next);
      at = next;
    }
    at.children.set(last, node);
  }

  #remove(path: string): void {
    const names = namesOf(path);
    const last = names.pop();
    const above = this.get(names.join("/"));
    if (last !== undefined && above?.kind === "directory") above.children.delete(last);
  }
}

function namesOf(path: string): string[] {
  return path === "" ? [] : path.split("/");
}

function copied(node: Node): Node {
  if (node.kind !== "directory") return node;
  return { ...node, children: new Map([...node.children].map(([name, child]) => [name, copied(child)])) };
}
