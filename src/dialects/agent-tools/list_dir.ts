// `list_dir`: what is in a directory, directories first.
import { text, tool } from "../../contract/tool.ts";
import { printable } from "../../contract/wording.ts";
import { sortByName } from "../../engine/search/order.ts";
import type { Directory, Entry } from "../../engine/workspace/directory.ts";
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
    using directory = call.workspace.directory(pathAt(call, path));
    const directories: string[] = [];
    const others: string[] = [];
    for (const entry of sortByName(directory.entries())) {
      if (entry.kind === "directory") directories.push(`${printable(entry.name)}/`);
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

/** A line for what is no directory; none where it is gone by now. A link has no size of its own worth telling. */
function described(directory: Directory, entry: Entry): string | undefined {
  const name = printable(entry.name);
  if (entry.kind === "symlink") return `${name} -> ${printable(directory.linkTarget(entry) ?? "")}`;
  const stat = directory.stat(entry);
  if (stat === undefined) return undefined;
  return `${name}\t${entry.kind === "file" ? stat.size : `(${entry.kind})`}`;
}
