// `apply_diffs`: replaces blocks of lines that must be at their stated positions. Line numbers are those of the
// original file, whatever the previous diffs added or removed.
import { text } from "../../contract/tool.ts";
import { applyEdits } from "../../engine/edit/apply.ts";
import type { AnchoredEdit } from "../../engine/edit/edits.ts";
import { Fault } from "../../engine/fault.ts";
import { lineCount } from "../../engine/text/count-breaks.ts";
import { batchReport, singleReport } from "./diff-report.ts";
import { editText } from "./text-file.ts";
import { workspaceTool } from "./workspace-tool.ts";

export const applyDiffs = workspaceTool({
  name: "apply_diffs",
  title: "Apply diffs",
  description:
    "Perform precise block-based search and replace operations on existing files. Supports single or multiple diff " +
    "operations on a single file. When processing multiple diffs, the tool automatically handles line number " +
    "offsets - all start_line values should be based on the original file structure. By default, operates in atomic " +
    "mode for safe batch operations.",
  input: {
    type: "object",
    properties: {
      path: { type: "string", description: "The path of the file to modify" },
      search_content: {
        oneOf: [
          { type: "string", description: "The original content to match precisely (for single diff)" },
          {
            type: "array",
            items: { type: "string" },
            description: "Array of original content to match precisely (for multiple diffs)",
          },
        ],
      },
      replace_content: {
        oneOf: [
          { type: "string", description: "The new content to replace with (for single diff)" },
          {
            type: "array",
            items: { type: "string" },
            description: "Array of new content to replace with (for multiple diffs)",
          },
        ],
      },
      start_line: {
        oneOf: [
          {
            type: "integer",
            description:
              "The starting line number for searching content (for single diff, 1-based line number from original file)",
            minimum: 1,
          },
          {
            type: "array",
            items: { type: "integer", minimum: 1 },
            description:
              "Array of starting line numbers for searching content (for multiple diffs, all 1-based line numbers from original file - tool automatically handles line offset adjustments during processing)",
          },
        ],
      },
      atomic: {
        type: "boolean",
        description:
          "Whether to use atomic mode (all-or-nothing). When true (default), validates all diffs before applying any. When false, applies diffs one by one, continuing on failures.",
        default: true,
      },
      trim: {
        type: "boolean",
        description:
          "Whether to trim whitespace from the beginning and end of each line when comparing search_content with file content. Only affects search and matching - replace_content is inserted exactly as provided. Default is false.",
        default: false,
      },
    },
    required: ["path", "search_content", "replace_content", "start_line"],
  },
  effect: "writes",
  paths: ["path"],
  async run(params, workspace, call) {
    const { path, atomic } = params;
    const edits = editsOf(params);
    const {
      outcomes,
      text: written,
      note,
    } = await editText("apply_diffs", path, workspace, call, async file => {
      const options = { order: "original", counting: "split", failing: "skip" } as const;
      const { outcomes, text: result } = await applyEdits(file, edits, options);
      const stays = atomic && outcomes.some(outcome => outcome instanceof Fault);
      return { text: stays ? file : result, outcomes };
    });
    const lines = lineCount(written, "split");
    const [edit] = edits;
    if (edit !== undefined && isSingle(params)) {
      if (outcomes[0] instanceof Fault) throw outcomes[0];
      return text(singleReport(path, edit, lines) + note);
    }
    const diffs = edits.map((one, i) => ({ edit: one, outcome: outcomes[i] }));
    const report = batchReport({ path, atomic, lines, diffs });
    if (!report.applied) throw new Fault("invalid_argument", { message: report.text });
    return text(report.text + note);
  },
});

interface Diffs {
  readonly search_content: string | readonly string[];
  readonly replace_content: string | readonly string[];
  readonly start_line: number | readonly number[];
  readonly trim: boolean;
}

function isSingle({ search_content, replace_content, start_line }: Diffs): boolean {
  return ![search_content, replace_content, start_line].some(Array.isArray);
}

function editsOf({ search_content, replace_content, start_line, trim }: Diffs): AnchoredEdit[] {
  const olds = typeof search_content === "string" ? [search_content] : search_content;
  const news = typeof replace_content === "string" ? [replace_content] : replace_content;
  const lines = typeof start_line === "number" ? [start_line] : start_line;
  const refuse = (message: string): never => {
    throw new Fault("invalid_argument", { message });
  };
  if (olds.length !== news.length || olds.length !== lines.length) {
    refuse("Array lengths for search_content, replace_content, and start_line must match");
  }
  if (olds.length === 0) refuse("search_content is an empty array: give at least one diff");
  const compare = trim ? "trimmed" : "exact";
  return olds.map((old, i) => ({
    kind: "anchored",
    line: lines[i] ?? 1,
    old,
    new: news[i] ?? "",
    compare,
  }));
}
