// `search_files`: files and directories by a glob. Links that lead nowhere, or out, are not there.
import type { CallContext } from "../../contract/context.ts";
import { Fault } from "../../engine/fault.ts";
import { walkGroups } from "../../engine/search/walk.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import { nativeForm } from "../../engine/workspace/windows-path.ts";
import { anyOf } from "./globs.ts";
import { pathAt } from "./paths.ts";
import { textTool } from "./reference-tool.ts";
import { BoundedLines } from "./room.ts";

export const searchFiles = textTool({
  name: "search_files",
  title: "Search files",
  description:
    "Find files and directories by a glob relative to path: *.ts in that directory, **/*.ts at any depth. Returns full " +
    "paths. Does not search contents. The path must be within the allowed directories.",
  input: {
    type: "object",
    properties: {
      path: { type: "string" },
      pattern: { type: "string" },
      excludePatterns: {
        type: "array",
        items: { type: "string" },
        default: [],
        description: "Globs (relative to path) to leave out, with everything below them.",
      },
    },
    required: ["path", "pattern"],
  },
  effect: "reads",
  paths: ["path"],
  call: "scandir",
  async run({ path: given, pattern, excludePatterns }, call) {
    const path = pathAt(given, call);
    using directory = call.workspace.directory(path);
    const base = directory.path.replace(/\/$/, "");
    const exclude = excludePatterns.length === 0 ? undefined : anyOf(excludePatterns);
    const options = { include: anyOf([pattern]), exclude, order: "tree", signal: call.signal } as const;
    const lines = new BoundedLines();
    await walkGroups(directory, options, ({ prefix, entries }) => {
      for (const { name, kind } of entries) {
        const found = prefix + name;
        if (kind === "symlink" && !leadsSomewhere(path.below(found), call)) continue;
        if (lines.add(nativeForm(`${base}/${found}`))) continue;
        lines.note(`cut after ${lines.count} matches: narrow the pattern, or search further down`);
        return false;
      }
      return true;
    });
    return lines.count === 0 ? "No matches found" : lines.toString();
  },
});

function leadsSomewhere(path: WorkspacePath, { workspace }: CallContext): boolean {
  try {
    workspace.locate(path);
    workspace.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}
