// `list_dir`: the entries of a directory, directories first.
import { text, tool } from "../../contract/tool.ts";
import { printable } from "../../contract/wording.ts";
import { Fault } from "../../engine/fault.ts";
import { sortByName } from "../../engine/search/order.ts";
import type { Directory } from "../../engine/workspace/directory.ts";
import type { DirectoryEntry } from "../../engine/workspace/directory-entry.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import type { Stat } from "../../engine/workspace/stat.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import { pathAt } from "./names.ts";
import { capped } from "./output.ts";

export const listDir = tool({
  name: "list_dir",
  title: "List directory",
  description:
    "List the entries of a directory, not recursively. Directories come first, as `name/`; files follow with their " +
    "size in bytes. Dotfiles are included.",
  input: {
    type: "object",
    properties: {
      path: { type: "string", description: "Directory to list. Default: the workspace root." },
    },
    additionalProperties: false,
  },
  effect: "reads",
  paths: ["path"],
  run({ path = "." }, call) {
    const at = pathAt(call, path);
    using directory = call.workspace.directory(at);
    const directories: string[] = [];
    const others: string[] = [];
    for (const entry of sortByName(directory.entries())) {
      const led = entry.kind === "symlink" ? target(at.below(entry.name), call.workspace) : undefined;
      if ((led?.kind ?? entry.kind) === "directory") directories.push(`${printable(entry.name)}/`);
      else if (led?.kind === "file") others.push(`${printable(entry.name)}\t${led.size}`);
      else {
        const line = described(directory, entry);
        if (line !== undefined) others.push(line);
      }
    }
    const lines = directories.concat(others);
    if (lines.length === 0) return text("(empty directory)");
    return capped(lines.join("\n"), call.settings.maxOutputBytes);
  },
});

/** The kind of a link's target; undefined if that is outside or missing. */
function target(link: WorkspacePath, workspace: Workspace): Stat | undefined {
  try {
    return workspace.stat(link);
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

/** A line for a non-directory; none if it is gone. */
function described(directory: Directory, entry: DirectoryEntry): string | undefined {
  const stat = directory.stat(entry);
  if (stat === undefined) return undefined;
  return `${printable(entry.name)}\t${entry.kind === "file" ? stat.size : `(${entry.kind})`}`;
}
