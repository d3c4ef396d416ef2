// `search_files`: files by glob.
import { text, tool } from "../../contract/tool.ts";
import { Fault } from "../../engine/fault.ts";
import { comparison, FirstItems } from "../../engine/search/sort.ts";
import { walk } from "../../engine/search/walk.ts";
import { under } from "../../engine/workspace/root.ts";
import { nativeForm } from "../../engine/workspace/windows-path.ts";
import { includeHiddenProperty, scopeOf, searchExcludesProperty } from "./globs.ts";
import { type ListedItem, line, listed, namesNote, plural, withNotes } from "./listing.ts";
import { output } from "./output.ts";
import { pathOf } from "./paths.ts";
import { limitProperties, type StoppedReason, stoppedReasons, truncation } from "./search-limits.ts";

export const searchFiles = tool({
  name: "search_files",
  title: "Search files",
  description:
    "Find files (not directories) using glob patterns. A pattern without '/' matches in the base directory " +
    "only; use **/*.ts or baseNameMatch for any depth. The paths found can be given to read_multiple_files as " +
    "they are.",
  input: {
    type: "object",
    properties: {
      path: { type: "string", description: "Base directory." },
      pattern: { type: "string", description: "Glob: **/*.ts, src/**" },
      excludePatterns: searchExcludesProperty,
      maxResults: limitProperties.maxResults,
      sortBy: {
        type: "string",
        enum: ["name", "size", "modified", "path"],
        default: "path",
        description: "Order: by name, largest first, latest first, or by path.",
      },
      maxDepth: {
        type: "integer",
        minimum: 0,
        maximum: 100,
        default: 10,
        description: "Maximum depth to scan.",
      },
      maxFilesScanned: limitProperties.maxFilesScanned,
      timeoutMs: limitProperties.timeoutMs,
      baseNameMatch: {
        type: "boolean",
        default: false,
        description: "Match basename for patterns without '/'.",
      },
      skipSymlinks: {
        type: "boolean",
        default: true,
        description: "Must remain true (symlink traversal off).",
      },
      includeHidden: includeHiddenProperty,
    },
    required: ["path", "pattern"],
  },
  output: output({
    path: { type: "string" },
    pattern: { type: "string" },
    results: {
      type: "array",
      items: {
        type: "object",
        properties: {
          path: { type: "string", description: "Absolute." },
          type: { type: "string", enum: ["file"] },
          size: { type: "integer", description: "In bytes." },
          modified: { type: "string" },
        },
        required: ["path", "type"],
      },
    },
    summary: {
      type: "object",
      properties: {
        matched: { type: "integer" },
        filesScanned: { type: "integer" },
        truncated: { type: "boolean" },
        stoppedReason: { type: "string", enum: stoppedReasons },
        skippedInaccessible: { type: "integer" },
        skippedTooDeep: { type: "integer", description: "Directories deeper than maxDepth." },
      },
    },
  }),
  effect: "reads",
  paths: ["path"],
  async run(params, call) {
    if (!params.skipSymlinks) {
      throw new Fault("invalid_argument", {
        message: "Following symbolic links is not supported: skipSymlinks must remain true",
      });
    }
    const base = pathOf(params.path, call);
    const scope = scopeOf({
      pattern: params.pattern,
      excludes: params.excludePatterns,
      hidden: params.includeHidden,
      baseName: params.baseNameMatch,
    });
    using directory = call.workspace.directory(base);
    const { maxDepth, maxFilesScanned, timeoutMs, maxResults, sortBy } = params;
    const found = walk(directory, {
      ...scope,
      maxDepth,
      maxFiles: maxFilesScanned,
      timeoutMs,
      signal: call.signal,
    });
    const first = new FirstItems<ListedItem>(maxResults, comparison(sortBy));
    let nameOnly = 0;
    await found.each(entry => {
      if (entry.kind !== "file") return true;
      const file = listed(entry);
      if (file !== undefined) first.add(file);
      else nameOnly++;
      // The walk is in path order, so this entry sorts after all that are kept.
      return sortBy !== "path" || first.count <= maxResults;
    });
    const results = first.sorted();
    const { files, inaccessible, tooDeep, stopped } = found.report;
    const reason: StoppedReason | undefined =
      stopped === "time"
        ? "timeout"
        : stopped === "files"
          ? "maxFiles"
          : first.count > results.length
            ? "maxResults"
            : undefined;
    if (reason === "timeout" && results.length === 0)
      throw new Fault("timeout", { ms: timeoutMs, what: `no file matched ${params.pattern} by then` });
    const absolute = ({ path }: ListedItem) => nativeForm(under(base.absolute, path));
    const structured = {
      ok: true,
      path: nativeForm(base.absolute),
      pattern: params.pattern,
      results: results.map(file => ({
        path: absolute(file),
        type: "file",
        size: file.size,
        modified: file.modified.toISOString(),
      })),
      summary: {
        matched: results.length,
        filesScanned: files,
        truncated: reason !== undefined,
        ...(reason && { stoppedReason: reason }),
        skippedInaccessible: inaccessible + nameOnly,
        ...(tooDeep > 0 && { skippedTooDeep: tooDeep }),
      },
    };
    const shown =
      results.length === 0
        ? ["No matches"]
        : [`Found ${results.length}:`, ...results.map(file => line(absolute(file), file))];
    const notes = [
      reason !== undefined && truncation(reason, params),
      tooDeep > 0 &&
        `Not searched: ${plural(tooDeep, "directory", "directories")} deeper than maxDepth (${maxDepth}).`,
      inaccessible > 0 && `Skipped: ${inaccessible} directories could not be read.`,
      nameOnly > 0 && namesNote(nameOnly),
    ];
    return text(withNotes(shown, notes), structured);
  },
});
