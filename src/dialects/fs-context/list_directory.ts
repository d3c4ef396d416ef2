// `list_directory`: the entries of a directory, optionally recursive.
import { text, tool } from "../../contract/tool.ts";
import { comparison, FirstItems } from "../../engine/search/sort.ts";
import { walk } from "../../engine/search/walk.ts";
import { nativeForm } from "../../engine/workspace/windows-path.ts";
import { includeHiddenProperty, scopeOf } from "./globs.ts";
import {
  entryTypes,
  type ListedItem,
  line,
  listed,
  namesNote,
  plural,
  typeOf,
  withNotes,
} from "./listing.ts";
import { output } from "./output.ts";
import { pathOf } from "./paths.ts";

// Sorting by size needs all entries, so the bound is above the largest limit.
const maxLookedAt = 100_000;

export const listDirectory = tool({
  name: "list_directory",
  title: "List directory",
  description:
    "List contents of a directory with optional recursion. Returns entry name, relative path, type, size, and " +
    "modified date. Symlinks are not followed.",
  input: {
    type: "object",
    properties: {
      path: { type: "string", description: "Directory path." },
      recursive: { type: "boolean", default: false, description: "Include subdirectories." },
      excludePatterns: {
        type: "array",
        items: { type: "string" },
        default: [],
        description: "Glob patterns to skip.",
      },
      pattern: { type: "string", description: "Glob pattern to include (relative only), e.g. **/*.ts." },
      sortBy: {
        type: "string",
        enum: ["name", "size", "modified", "type"],
        default: "name",
        description: "Order: by name, largest first, latest first, or directories first.",
      },
      maxDepth: {
        type: "integer",
        minimum: 0,
        maximum: 100,
        default: 10,
        description: "Depth when recursive; 0 is the directory's own entries.",
      },
      maxEntries: {
        type: "integer",
        minimum: 1,
        maximum: 100_000,
        default: 10_000,
        description: "Limit (up to 100,000).",
      },
      includeSymlinkTargets: {
        type: "boolean",
        default: false,
        description: "Include target paths for symlink entries.",
      },
      includeHidden: includeHiddenProperty,
    },
    required: ["path"],
  },
  output: output({
    path: { type: "string" },
    entries: {
      type: "array",
      items: {
        type: "object",
        properties: {
          name: { type: "string" },
          relativePath: { type: "string", description: "Relative to the base path." },
          type: { type: "string", enum: entryTypes },
          size: { type: "integer", description: "In bytes; of files." },
          modified: { type: "string" },
          symlinkTarget: { type: "string" },
        },
        required: ["name", "relativePath", "type"],
      },
    },
    summary: {
      type: "object",
      properties: {
        totalEntries: { type: "integer" },
        totalDirectories: { type: "integer" },
        totalFiles: { type: "integer" },
        truncated: { type: "boolean" },
        stoppedReason: { type: "string", enum: ["maxEntries"] },
        skippedInaccessible: { type: "integer" },
        symlinksNotFollowed: { type: "integer" },
      },
    },
  }),
  effect: "reads",
  paths: ["path"],
  async run(params, call) {
    const path = pathOf(params.path, call);
    const scope = scopeOf({
      pattern: params.pattern,
      excludes: params.excludePatterns,
      hidden: params.includeHidden,
    });
    using directory = call.workspace.directory(path);
    const found = walk(directory, {
      ...scope,
      maxDepth: params.recursive ? params.maxDepth : 0,
      maxEntries: maxLookedAt,
      signal: call.signal,
    });
    const first = new FirstItems<ListedItem>(params.maxEntries, comparison(params.sortBy));
    let nameOnly = 0;
    await found.each(entry => {
      const one = listed(entry, { target: params.includeSymlinkTargets });
      if (one !== undefined) first.add(one);
      else nameOnly++;
      return true;
    });
    const entries = first.sorted();
    const count = (kind: ListedItem["kind"]) => entries.filter(entry => entry.kind === kind).length;
    const [directories, files, links] = [count("directory"), count("file"), count("symlink")];
    const truncated = first.count > entries.length || found.report.stopped !== undefined;
    const { inaccessible } = found.report;
    const structured = {
      ok: true,
      path: nativeForm(path.absolute),
      entries: entries.map(structuredEntry),
      summary: {
        totalEntries: entries.length,
        totalDirectories: directories,
        totalFiles: files,
        truncated,
        ...(truncated && { stoppedReason: "maxEntries" }),
        skippedInaccessible: inaccessible + nameOnly,
        symlinksNotFollowed: links,
      },
    };
    const shown =
      entries.length === 0
        ? [params.pattern === undefined ? "Empty directory" : `No matches for ${params.pattern}`]
        : [
            `${nativeForm(path.absolute)} (${directories} dirs, ${files} files):`,
            ...entries.map(entry => line(entry.path, entry)),
          ];
    const total = found.report.stopped === undefined ? `${first.count}` : `more than ${first.count}`;
    const notes = [
      truncated &&
        `Truncated: ${entries.length} of ${total} entries shown. Raise maxEntries, or narrow with path, pattern or maxDepth.`,
      inaccessible > 0 && `Skipped: ${plural(inaccessible, "directory", "directories")} could not be read.`,
      nameOnly > 0 && namesNote(nameOnly),
      links > 0 && `Not followed: ${plural(links, "symlink")}.`,
    ];
    return text(withNotes(shown, notes), structured);
  },
});

function structuredEntry(entry: ListedItem) {
  const { name, path, kind, size, modified, target } = entry;
  return {
    name,
    relativePath: path,
    type: typeOf(kind),
    ...(kind === "file" && { size }),
    modified: modified.toISOString(),
    ...(target !== undefined && { symlinkTarget: target }),
  };
}
