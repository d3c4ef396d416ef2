// `insert_contents`: new lines at a position of one or several files, each file independently.
import { text } from "../../contract/tool.ts";
import { applyEdits } from "../../engine/edit/apply.ts";
import { Fault } from "../../engine/fault.ts";
import { countLines } from "../../engine/text/lines.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import { eachFile } from "./each-file.ts";
import { pathForms, pathsOf, valuesFor } from "./forms.ts";
import { editText } from "./text-file.ts";
import { type WorkspaceCall, workspaceTool } from "./workspace-tool.ts";

export const insertContents = workspaceTool({
  name: "insert_contents",
  title: "Insert contents",
  description:
    "Insert new content at the specified position in the file. Supports editing single or multiple files at once. " +
    "Negative line numbers are supported for insertion from the end (-1 means before the last line).",
  input: {
    type: "object",
    properties: {
      path: pathForms("The path of the single target file", "An array of target file paths"),
      line: {
        oneOf: [
          {
            type: "integer",
            description:
              "The line number to insert (positive: 1-based, 0: end of file, negative: from end, -1 before last line), for single file",
          },
          {
            type: "array",
            items: { type: "integer" },
            description:
              "An array of line numbers for each file (positive: insert, 0: end, negative: from end), for multiple files",
          },
        ],
      },
      content: {
        oneOf: [
          {
            type: "string",
            description: "The content to insert, for single file or same content for all files",
          },
          {
            type: "array",
            items: { type: "string" },
            description: "An array of content for each file, for different content per file",
          },
        ],
      },
    },
    required: ["path", "line", "content"],
  },
  effect: "writes",
  destructive: false,
  paths: ["path"],
  async run({ path, line, content }, workspace, call) {
    const paths = pathsOf(path);
    const lines = valuesFor(paths, line, "line");
    const contents = valuesFor(paths, content, "content");
    const insertion = (one: string, i: number) =>
      insert(one, lines[i] ?? 0, contents[i] ?? "", workspace, call);
    if (typeof path === "string") return text(await insertion(path, 0));
    const outcomes = await eachFile(paths, call, insertion);
    const report = outcomes.map(outcome =>
      "error" in outcome ? `❌ ${outcome.path}: ${outcome.error}` : `✅ ${outcome.path}: ${outcome.value}`,
    );
    const done = outcomes.filter(outcome => "value" in outcome).length;
    if (done === 0) {
      throw new Fault("invalid_argument", { message: `No file was changed.\n\n${report.join("\n")}` });
    }
    return text(`Successfully processed ${done} file(s):\n\n${report.join("\n")}`);
  },
});

/** Inserts, and says so. */
async function insert(
  path: string,
  line: number,
  content: string,
  workspace: Workspace,
  call: WorkspaceCall,
): Promise<string> {
  const { text: result, note } = await editText("insert_contents", path, workspace, call, async file => {
    const after = linesBefore(line, path, file.body);
    const edit = { kind: "insert", after, new: content } as const;
    return applyEdits(file, [edit], { order: "original", counting: "split" });
  });
  const position = line === 0 ? "end of file" : line;
  return (
    `Successfully inserted ${countLines(content, "split")} line(s) at position ${position} in ${path}. ` +
    `File now has ${countLines(result.body, "split")} lines.${note}`
  );
}

/** The number of lines before the new ones. */
function linesBefore(line: number, path: string, body: string): number {
  const lines = countLines(body, "split");
  if (line > lines + 1) throw new Fault("past_end", { path, line, lines });
  if (line > 0) return line - 1;
  // Text inserted after the final break ends with a break, as the file did.
  if (line === 0) return body === "" || body.endsWith("\n") ? lines - 1 : lines;
  if (-line <= lines) return lines + line;
  const message = `Negative line number ${line} is out of range for file with ${lines} lines`;
  throw new Fault("invalid_argument", { message });
}
