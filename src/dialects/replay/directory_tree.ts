// `directory_tree`: a tree as JSON.
import { text, tool } from "../../contract/tool.ts";
import { type TreeNode, treeOf } from "../../engine/search/tree.ts";
import { readable } from "./paths.ts";
import { maxAnswerBytes } from "./room.ts";

export const directoryTree = tool({
  name: "directory_tree",
  title: "Directory tree",
  description:
    'The tree below a directory as JSON: {"name", "type": "directory" | "file", "children": []}, sorted by name. ' +
    "Without depth all of it; for large trees set depth.",
  input: {
    type: "object",
    properties: {
      path: { type: "string", description: "Root directory, absolute." },
      depth: {
        type: "integer",
        minimum: 0,
        description: "How many levels to go down: 0 is the root alone, 1 adds its entries. Default: all.",
      },
    },
    required: ["path"],
  },
  effect: "reads",
  paths: ["path"],
  async run({ path: given, depth }, { workspace, signal }) {
    using directory = workspace.directory(readable(workspace, given).path);
    return text(json(await treeOf(directory, { levels: depth, maxLength: maxAnswerBytes, signal })));
  },
});

/** Written without recursion: a tree may be deeper than the stack. */
function json(root: TreeNode): string {
  const parts: string[] = [];
  const waiting: (TreeNode | string)[] = [root];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === "string") {
      parts.push(next);
      continue;
    }
    const isDirectory = next.kind === "directory";
    parts.push(`{"name":${JSON.stringify(next.name)},"type":"${isDirectory ? "directory" : "file"}"`);
    parts.push(isDirectory ? ',"children":[' : "}");
    if (!isDirectory) continue;
    waiting.push("]}");
    for (let i = next.children.length - 1; i >= 0; i--) {
      const child = next.children[i];
      if (child !== undefined) waiting.push(child);
      if (i > 0) waiting.push(",");
    }
  }
  return parts.join("");
}
