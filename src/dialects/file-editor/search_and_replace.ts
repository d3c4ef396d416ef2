// `search_and_replace`: every occurrence of a text or of a regular expression, line by line.
import { text } from "../../contract/tool.ts";
import { applyEdits } from "../../engine/edit/apply.ts";
import type { Edit, LineRange } from "../../engine/edit/edits.ts";
import { Fault } from "../../engine/fault.ts";
import { readExpression } from "../../engine/regex/expression.ts";
import { dollarStyle } from "../../engine/regex/replacement.ts";
import { countLines } from "../../engine/text/lines.ts";
import { editText } from "./text-file.ts";
import { workspaceTool } from "./workspace-tool.ts";

export const searchAndReplace = workspaceTool({
  name: "search_and_replace",
  title: "Search and replace",
  description: "Search and replace text or regular expressions in a single file.",
  input: {
    type: "object",
    properties: {
      path: { type: "string", description: "The target file path" },
      search: { type: "string", description: "The text or regular expression to search for" },
      replace: { type: "string", description: "The text to replace with" },
      use_regex: {
        type: "boolean",
        description: "Whether to use regular expressions for searching",
        default: false,
      },
      ignore_case: {
        type: "boolean",
        description: "Whether to ignore case when searching",
        default: false,
      },
      start_line: { type: "integer", description: "The starting line of the search range", minimum: 1 },
      end_line: { type: "integer", description: "The ending line of the search range", minimum: 1 },
    },
    required: ["path", "search", "replace"],
  },
  effect: "writes",
  paths: ["path"],
  async run(params, workspace, call) {
    const { path, start_line, end_line } = params;
    refuse(params);
    const acrossLines = !params.use_regex && params.search.includes("\n");
    const ranged = start_line !== undefined || end_line !== undefined;
    const edited = await editText("search_and_replace", path, workspace, call, async file => {
      const lines = countLines(file.body, "split");
      const within = { from: start_line ?? 1, to: end_line ?? lines };
      if (within.from > lines) throw new Fault("past_end", { path, line: within.from, lines });
      if (acrossLines) return { text: file, count: 0, within };
      const edit = editOf(params, ranged ? within : undefined);
      const { signal } = call;
      const result = await applyEdits(file, [edit], { order: "original", failing: "skip", signal });
      const [outcome] = result.outcomes;
      if (outcome instanceof Fault && outcome.code !== "no_match") throw outcome;
      return { text: result.text, count: result.count, within };
    });
    const range = ranged ? ` (lines ${edited.within.from}-${edited.within.to})` : "";
    const how = params.use_regex ? " using regex pattern" : "";
    const cases = params.ignore_case ? " (case-insensitive)" : "";
    const hint = acrossLines
      ? "\nNote: the search goes line by line, so a text with a line break is never found; apply_diffs replaces several lines."
      : "";
    return text(
      `Successfully replaced ${edited.count} occurrence(s) in ${path}${range}${how}${cases}${hint}${edited.note}`,
    );
  },
});

interface SearchParams {
  readonly search: string;
  readonly replace: string;
  readonly use_regex: boolean;
  readonly ignore_case: boolean;
  readonly start_line?: number;
  readonly end_line?: number;
}

function refuse({ search, start_line, end_line }: SearchParams): void {
  if (search === "") throw new Fault("invalid_argument", { message: "search must not be empty" });
  if (start_line === undefined || end_line === undefined || start_line <= end_line) return;
  const message = `start_line (${start_line}) cannot be greater than end_line (${end_line})`;
  throw new Fault("invalid_argument", { message });
}

function editOf(
  { search, replace, use_regex, ignore_case }: SearchParams,
  range: LineRange | undefined,
): Edit {
  const what = { new: replace, times: "all", ...(range && { within: range }) } as const;
  if (!use_regex) return { ...what, kind: "replace", old: search, ignoreCase: ignore_case };
  const { source, flags } = readExpression(search, { ignoreCase: ignore_case });
  // As in JavaScript, a group that the pattern does not have is text.
  const style = { ...dollarStyle, missing: "keep" } as const;
  return { ...what, kind: "regex", pattern: source, flags, style, byLine: true };
}
