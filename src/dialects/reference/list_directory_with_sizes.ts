// `list_directory_with_sizes`: the names in one directory with file sizes, and the total. The size of a link is that of
// its target, if it is in the allowed directories.

import type { CallContext } from "../../contract/context.ts";
import { Fault } from "../../engine/fault.ts";
import { once } from "../../engine/once.ts";
import { sortByName } from "../../engine/search/order.ts";
import type { Directory } from "../../engine/workspace/directory.ts";
import type { DirectoryEntry } from "../../engine/workspace/directory-entry.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import { pathAt } from "./paths.ts";
import { textTool } from "./reference-tool.ts";
import { BoundedLines } from "./room.ts";

interface Sized {
  readonly name: string;
  readonly isDirectory: boolean;
  readonly size: number;
}

export const listDirectoryWithSizes = textTool({
  name: "list_directory_with_sizes",
  title: "List directory with sizes",
  description:
    "List a directory with the sizes of its files, one entry per line, each after [FILE] or [DIR], and the totals at " +
    "the end. The path must be within the allowed directories.",
  input: {
    type: "object",
    properties: {
      path: { type: "string" },
      sortBy: {
        type: "string",
        enum: ["name", "size"],
        default: "name",
        description: "The order: by name, or largest first.",
      },
    },
    required: ["path"],
  },
  effect: "reads",
  paths: ["path"],
  call: "scandir",
  run({ path: given, sortBy }, call) {
    const path = pathAt(given, call);
    using directory = call.workspace.directory(path);
    const entries = sortByName(directory.entries()).map((entry): Sized => {
      const isDirectory = entry.kind === "directory";
      return { name: entry.name, isDirectory, size: sizeOf(entry, directory, path, call) };
    });
    const sorted = entries.sort((a, b) => (sortBy === "size" ? b.size - a.size : byName(a, b)));
    const lines = new BoundedLines();
    for (const { name, isDirectory, size } of sorted) {
      const column = isDirectory ? "" : formatted(size).padStart(10);
      if (lines.add(`${isDirectory ? "[DIR]" : "[FILE]"} ${name.padEnd(30)} ${column}`)) continue;
      lines.note(`cut: ${lines.count} of ${sorted.length} entries`);
      break;
    }
    const files = entries.filter(({ isDirectory }) => !isDirectory);
    const total = files.reduce((sum, { size }) => sum + size, 0);
    const counts = `Total: ${files.length} files, ${entries.length - files.length} directories`;
    return [lines.toString(), "", counts, `Combined size: ${formatted(total)}`]
      .slice(entries.length === 0 ? 1 : 0)
      .join("\n");
  },
});

/** Made on first use: it takes time and memory, which the start must not pay. */
const collator = once(() => new Intl.Collator());

function compareNames(a: string, b: string): number {
  return collator().compare(a, b);
}

function byName(a: Sized, b: Sized): number {
  return compareNames(a.name, b.name);
}

function sizeOf(
  entry: DirectoryEntry,
  directory: Directory,
  path: WorkspacePath,
  { workspace }: CallContext,
): number {
  if (entry.kind !== "symlink") return directory.stat(entry)?.size ?? 0;
  try {
    return workspace.stat(path.below(entry.name)).size;
  } catch (error) {
    if (error instanceof Fault) return 0;
    throw error;
  }
}

const units = ["KB", "MB", "GB", "TB"];

/** "14 B", "1.50 KB": two decimals from a kilobyte on. */
function formatted(bytes: number): string {
  let value = bytes;
  let unit = "B";
  for (const next of units) {
    if (value < 1024) break;
    value /= 1024;
    unit = next;
  }
  return unit === "B" ? `${bytes} B` : `${value.toFixed(2)} ${unit}`;
}
