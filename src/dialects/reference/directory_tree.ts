// `directory_tree`: a tree as JSON, level by level, so that the deepest entries are left out first.
import type { CallContext } from "../../contract/context.ts";
import { Fault } from "../../engine/fault.ts";
import type { Globs } from "../../engine/search/globs.ts";
import { compareBytes } from "../../engine/search/order.ts";
import type { DirectoryEntry } from "../../engine/workspace/directory-entry.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import { excludedFromTree } from "./globs.ts";
import { pathAt } from "./paths.ts";
import { textTool } from "./reference-tool.ts";
import { maxAnswerBytes } from "./room.ts";

export const directoryTree = textTool({
  name: "directory_tree",
  title: "Directory tree",
  description:
    "The tree below a directory as JSON: objects with name, type (file or directory) and, for directories only, " +
    'children. A large tree is cut, deepest levels first; entries of type "truncated" mark what is left out. ' +
    "The path must be within the allowed directories.",
  input: {
    type: "object",
    properties: {
      path: { type: "string" },
      excludePatterns: {
        type: "array",
        items: { type: "string" },
        default: [],
        description: "Names or globs (relative to path) to leave out, with everything below them.",
      },
    },
    required: ["path"],
  },
  effect: "reads",
  paths: ["path"],
  call: "scandir",
  async run({ path, excludePatterns }, call) {
    return JSON.stringify(await treeOf(pathAt(path, call), excludedFromTree(excludePatterns), call), null, 2);
  },
});

interface JsonTreeNode {
  readonly name: string;
  readonly type: "file" | "directory" | "truncated" | "unreadable";
  readonly children?: JsonTreeNode[];
}

interface Branch {
  /** "" or a path with a final slash, relative to the start. */
  readonly prefix: string;
  readonly depth: number;
  readonly children: JsonTreeNode[];
}

async function treeOf(
  start: WorkspacePath,
  excluded: Globs,
  call: CallContext,
): Promise<readonly JsonTreeNode[]> {
  const root: Branch = { prefix: "", depth: 0, children: [] };
  const branches = [root];
  let room = maxAnswerBytes;
  let shown = 0;
  for (const [i, branch] of branches.entries()) {
    if (i % 100 === 99) await new Promise(setImmediate); // others have their turn
    call.signal.throwIfAborted();
    const entries = room > 0 ? entriesOf(start, branch, call) : [];
    if (room <= 0) branch.children.push({ name: "…", type: "truncated" });
    for (const { name, kind } of entries) {
      const path = branch.prefix + name;
      if (excluded.matches(path)) continue;
      const isDirectory = kind === "directory";
      room -= lengthOf(name, branch.depth, isDirectory);
      if (room <= 0) {
        branch.children.push({ name: "…", type: "truncated" });
        break;
      }
      shown++;
      const children: JsonTreeNode[] = [];
      branch.children.push(isDirectory ? { name, type: "directory", children } : { name, type: "file" });
      if (isDirectory) branches.push({ prefix: `${path}/`, depth: branch.depth + 1, children });
    }
  }
  if (room <= 0) root.children.push({ name: cut(shown), type: "truncated" });
  return root.children;
}

/** The entries of a directory, sorted. One that is gone or unreadable does not stop the others. */
function entriesOf(
  start: WorkspacePath,
  { prefix, children }: Branch,
  { workspace }: CallContext,
): DirectoryEntry[] {
  try {
    using directory = workspace.directory(prefix === "" ? start : start.below(prefix));
    return directory.entries().sort((a, b) => compareBytes(a.name, b.name));
  } catch (error) {
    if (prefix === "" || !(error instanceof Fault)) throw error;
    if (error.code !== "not_found") children.push({ name: "… (cannot be read)", type: "unreadable" });
    return [];
  }
}

/** How much of the answer an entry takes: its fields on lines of their own, indented by its depth. */
function lengthOf(name: string, depth: number, isDirectory: boolean): number {
  return Buffer.byteLength(name) + (isDirectory ? 70 : 40) + (isDirectory ? 6 : 4) * (4 * depth + 2);
}

function cut(shown: number): string {
  return `… cut after ${shown} entries: ask for a directory further down, or leave out more with excludePatterns`;
}
