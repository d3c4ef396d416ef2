// `search_content`: lines by regular expression or literal text. Patterns are JavaScript's, as the document's
// authors run them; engine/regex/expression.ts says how they are read.
import { firstCharacters } from "../../contract/render/cut.ts";
import { text, tool } from "../../contract/tool.ts";
import { Fault } from "../../engine/fault.ts";
import { readExpression } from "../../engine/regex/expression.ts";
import type { GrepReport } from "../../engine/search/grep-terms.ts";
import type { FileMatches, LineMatch } from "../../engine/search/match-terms.ts";
import { matches } from "../../engine/search/matches.ts";
import { under } from "../../engine/workspace/root.ts";
import { nativeForm } from "../../engine/workspace/windows-path.ts";
import { includeHiddenProperty, scopeOf, searchExcludesProperty } from "./globs.ts";
import { withNotes } from "./listing.ts";
import { output } from "./output.ts";
import { pathOf } from "./paths.ts";
import { looksBinary } from "./reading.ts";
import { limitProperties, type StoppedReason, stoppedReasons, truncation } from "./search-limits.ts";

const megabyte = 1024 * 1024;
const longestLine = 2000;

export const searchContent = tool({
  name: "search_content",
  title: "Search content",
  description:
    "Grep-like search across file contents using regex, line by line; set isLiteral=true to search for exact " +
    "text. Case-insensitive unless caseSensitive=true.",
  input: {
    type: "object",
    properties: {
      path: { type: "string", description: "Base directory." },
      pattern: { type: "string", minLength: 1, description: "Regex: TODO|FIXME" },
      filePattern: { type: "string", default: "**/*", description: "Glob filter for files." },
      excludePatterns: searchExcludesProperty,
      contextLines: {
        type: "integer",
        minimum: 0,
        maximum: 10,
        default: 0,
        description: "Lines before/after match (0-10).",
      },
      caseSensitive: { type: "boolean", default: false, description: "Case-sensitive matching." },
      wholeWord: { type: "boolean", default: false, description: "Match whole words only." },
      isLiteral: { type: "boolean", default: false, description: "Treat pattern as literal string." },
      maxResults: limitProperties.maxResults,
      maxFileSize: {
        type: "integer",
        minimum: 1,
        maximum: 100 * megabyte,
        default: megabyte,
        description: "Maximum file size to scan, in bytes (default 1 MB).",
      },
      maxFilesScanned: limitProperties.maxFilesScanned,
      timeoutMs: limitProperties.timeoutMs,
      skipBinary: { type: "boolean", default: true, description: "Skip likely-binary files." },
      includeHidden: includeHiddenProperty,
    },
    required: ["path", "pattern"],
  },
  output: output({
    path: { type: "string" },
    pattern: { type: "string" },
    matches: {
      type: "array",
      items: {
        type: "object",
        properties: {
          file: { type: "string", description: "Absolute." },
          line: { type: "integer", description: "Counts from 1." },
          content: { type: "string" },
          contextBefore: { type: "array", items: { type: "string" } },
          contextAfter: { type: "array", items: { type: "string" } },
          matchCount: { type: "integer", description: "Matches on this line." },
        },
        required: ["file", "line", "content", "matchCount"],
      },
    },
    summary: {
      type: "object",
      properties: {
        filesScanned: { type: "integer" },
        filesMatched: { type: "integer" },
        totalMatches: { type: "integer" },
        truncated: { type: "boolean" },
        stoppedReason: { type: "string", enum: stoppedReasons },
        skippedInaccessible: { type: "integer" },
      },
    },
  }),
  effect: "reads",
  paths: ["path"],
  async run(params, call) {
    const { pattern, maxResults, timeoutMs, wholeWord, contextLines: context } = params;
    const ignoreCase = !params.caseSensitive;
    const sought = params.isLiteral
      ? { literal: pattern, ignoreCase, wholeWord }
      : readExpression(pattern, { ignoreCase, wholeWord });
    const base = pathOf(params.path, call);
    const scope = scopeOf({
      pattern: params.filePattern,
      excludes: params.excludePatterns,
      hidden: params.includeHidden,
      ...fileMatching(params),
    });
    using directory = call.workspace.directory(base);
    const report: GrepReport = { files: 0, inaccessible: 0, stopped: undefined };
    const options = {
      ...scope,
      context,
      limit: maxResults + 1,
      maxFileSize: params.maxFileSize,
      maxFiles: params.maxFilesScanned,
      binary: params.skipBinary ? looksBinary : undefined,
      // As read_file counts lines.
      reading: "utf-8 lf" as const,
      timeoutMs,
      signal: call.signal,
    };
    const found: FileMatches[] = [];
    let left = maxResults;
    let more = false;
    for await (const { path, lines } of matches(directory, sought, options, report)) {
      more ||= lines.length > left;
      if (left > 0) found.push({ path, lines: lines.slice(0, left).map(shownPart) });
      left -= Math.min(left, lines.length);
    }
    if (report.stopped === "memory" || report.stopped === "killed")
      throw new Fault("search_incomplete", { reason: report.stopped });
    const reason = reasonOf(report.stopped, more);
    if (reason === "timeout" && found.length === 0)
      throw new Fault("timeout", { ms: timeoutMs, what: `nothing matched ${pattern.slice(0, 200)} by then` });
    const absolute = (path: string) => nativeForm(under(base.absolute, path));
    const total = maxResults - left;
    const structured = {
      ok: true,
      path: nativeForm(base.absolute),
      pattern,
      matches: found.flatMap(file =>
        file.lines.map(({ number, text: content, before, after, count }) => ({
          file: absolute(file.path),
          line: number,
          content,
          contextBefore: before,
          contextAfter: after,
          matchCount: count,
        })),
      ),
      summary: {
        filesScanned: Math.max(report.files, found.length),
        filesMatched: found.length,
        totalMatches: total,
        truncated: reason !== undefined,
        ...(reason && { stoppedReason: reason }),
        skippedInaccessible: report.inaccessible,
      },
    };
    const shown =
      total === 0
        ? ["No matches"]
        : [`Found ${total}:`, ...found.flatMap(file => ["", ...block(absolute(file.path), file.lines)])];
    const notes = [
      reason !== undefined && truncation(reason, params),
      report.inaccessible > 0 && `Skipped: ${report.inaccessible} files or directories could not be read.`,
    ];
    return text(withNotes(shown, notes), structured);
  },
});

/** A match with lines that are not too long to be shown. */
function shownPart({ text: content, before, after, ...match }: LineMatch): LineMatch {
  return { ...match, text: shownLine(content), before: before.map(shownLine), after: after.map(shownLine) };
}

function shownLine(content: string): string {
  const { text: first, left } = firstCharacters(content, longestLine);
  return left === 0 ? first : `${first} [line cut]`;
}

/** Two parameters that clients send although the document has them for other tools only. */
function fileMatching(params: object): { baseName: boolean; ignoreCase: boolean } {
  return {
    baseName: "baseNameMatch" in params && params.baseNameMatch === true,
    ignoreCase: "caseSensitiveFileMatch" in params && params.caseSensitiveFileMatch === false,
  };
}

function reasonOf(stopped: GrepReport["stopped"], more: boolean): StoppedReason | undefined {
  if (stopped === "time") return "timeout";
  if (more || stopped === "output") return "maxResults";
  return stopped === "files" ? "maxFiles" : undefined;
}

/** A file's matches with their context, each line once. */
function block(path: string, lines: readonly LineMatch[]): string[] {
  const numbers = new Set(lines.map(line => line.number));
  const shown = new Map<number, string>();
  for (const { number, text: content, before, after } of lines) {
    for (const [i, one] of before.entries()) shown.set(number - before.length + i, one);
    shown.set(number, content);
    for (const [i, one] of after.entries()) shown.set(number + 1 + i, one);
  }
  const ordered = [...shown].sort(([a], [b]) => a - b);
  const width = String(ordered.at(-1)?.[0] ?? 0).length;
  const row = ([number, content]: [number, string]) =>
    `${numbers.has(number) ? ">" : " "} ${String(number).padStart(width)}: ${content}`;
  return [`${path} (${lines.length} matches):`, ...ordered.map(row)];
}
