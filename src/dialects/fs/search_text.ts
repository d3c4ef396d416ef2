// `fs.search_text`: a page of the lines that match, sorted by path and line.
import { text, tool } from "../../contract/tool.ts";
import { Fault } from "../../engine/fault.ts";
import { notUtf8 } from "../../engine/search/binary.ts";
import { grep } from "../../engine/search/grep.ts";
import type { FoundLine } from "../../engine/search/grep-terms.ts";
import { covered, scopeProperties } from "./scope.ts";

/** The contract names no limits; without any, one call could hold up the others or fill the memory. */
const timeoutMs = 30_000;
const pageCharacters = 8 * 1024 * 1024;

interface SearchHit {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly line_text: string;
  readonly context_before: readonly string[];
  readonly context_after: readonly string[];
}

export const searchText = tool({
  name: "search_text",
  title: "Search text",
  description:
    "Search for text across files, respecting .gitignore and .ignore files. Literal or regex (line by line), with " +
    "lines of context. Sorted by path and line; page with max_results and skip.",
  input: {
    type: "object",
    properties: {
      query: { type: "string", description: "What to search for." },
      mode: { type: "string", enum: ["literal", "regex"], default: "literal", description: "Search mode." },
      case_sensitive: { type: "boolean", default: false, description: "Match case." },
      ...scopeProperties,
      max_results: { type: "integer", minimum: 0, default: 200, description: "Maximum hits to return." },
      context_lines: {
        type: "integer",
        minimum: 0,
        default: 2,
        description: "Lines of context before and after each hit.",
      },
      skip: { type: "integer", minimum: 0, default: 0, description: "Initial matches to skip, for paging." },
    },
    required: ["query"],
  },
  effect: "reads",
  paths: ["root"],
  async run(params, call) {
    using tree = covered(params, call);
    const query = {
      pattern: params.query,
      literal: params.mode === "literal",
      ignoreCase: !params.case_sensitive,
      lineByLine: true,
    };
    const context = Math.min(params.context_lines, 1000);
    const search = grep(tree.directory, query, {
      ...tree.scope,
      before: context,
      after: context,
      binary: notUtf8,
      // As read_file counts lines.
      reading: "utf-8 lf",
      columns: true,
      limit: params.skip + params.max_results + 1,
      timeoutMs,
      signal: call.signal,
    });
    const hits: SearchHit[] = [];
    let room = pageCharacters;
    let skipped = 0;
    let more = false;
    files: for await (const file of search) {
      for (const [i, line] of file.lines.entries()) {
        if (line.column === undefined) continue;
        if (skipped++ < params.skip) continue;
        more = hits.length === params.max_results || room < 0;
        if (more) break files;
        const hit = hitAt(tree.named(file.path), file.lines, i, line.column, context);
        room -= lengthOf(hit);
        hits.push(hit);
      }
    }
    const { stopped } = search.report;
    if (stopped === "memory" || stopped === "killed")
      throw new Fault("search_incomplete", { reason: stopped });
    if (stopped === "time" && hits.length === 0)
      throw new Fault("timeout", {
        ms: timeoutMs,
        what: "nothing was found by then; narrow it with root or include_globs",
      });
    // A search that stopped early may have missed hits. An empty page is still the last one: otherwise a caller that
    // continues while there is more would never end.
    const mayHaveMore = stopped !== undefined && hits.length > 0;
    return text(JSON.stringify({ hits, has_more: more || mayHaveMore }));
  },
});

function lengthOf({ line_text, context_before, context_after }: SearchHit): number {
  const lines = [line_text, ...context_before, ...context_after];
  return lines.reduce((sum, line) => sum + line.length, 0);
}

function hitAt(
  path: string,
  lines: readonly FoundLine[],
  at: number,
  column: number,
  context: number,
): SearchHit {
  const { number, text: line_text } = lines[at] as FoundLine;
  const near = lines.slice(Math.max(0, at - context), at + context + 1);
  const between = (from: number, to: number) =>
    near.filter(line => line.number >= from && line.number <= to).map(line => line.text);
  return {
    path,
    line: number,
    column,
    line_text,
    context_before: between(number - context, number - 1),
    context_after: between(number + 1, number + context),
  };
}
