// `read_files`: one file or several, every line with its number.
import { text } from "../../contract/tool.ts";
import { Fault } from "../../engine/fault.ts";
import { eachFile } from "./each-file.ts";
import { pathForms, pathsOf } from "./forms.ts";
import { mostCharacters, numberedLines, rangeOf } from "./read-lines.ts";
import { workspaceTool } from "./workspace-tool.ts";

export const readFiles = workspaceTool({
  name: "read_files",
  title: "Read files",
  description:
    "Read the entire or partial content of the specified file(s). Supports reading single or multiple files at " +
    "once. The returned content includes line numbers (format: `line | content`) for easy line reference in other " +
    "tools.",
  input: {
    type: "object",
    properties: {
      path: pathForms("The path of the single file to read", "An array of file paths to read"),
      line_range: {
        type: "string",
        description: "Optional line range, format 'start-end' (only for single file)",
        pattern: "^\\d+-\\d+$",
      },
    },
    required: ["path"],
  },
  effect: "reads",
  paths: ["path"],
  async run({ path, line_range }, workspace, call) {
    if (typeof path === "string") {
      const range = line_range === undefined ? undefined : rangeOf(line_range);
      return text((await numberedLines(path, workspace, call, range)).text);
    }
    if (line_range !== undefined) {
      throw new Fault("invalid_argument", { message: "line_range can only be used with a single file" });
    }
    let room = mostCharacters;
    const outcomes = await eachFile(pathsOf(path), call, async one => {
      const lines = await numberedLines(one, workspace, call);
      if (lines.text.length > room) throw noRoom;
      room -= lines.text.length;
      return lines;
    });
    const parts: string[] = [];
    const errors: string[] = [];
    for (const outcome of outcomes) {
      if ("error" in outcome) errors.push(`  - ${outcome.path}: ${outcome.error}`);
      else parts.push(`=== ${outcome.path} (${outcome.value.count} lines) ===\n${outcome.value.text}`);
    }
    const failed = errors.length === 0 ? [] : [`Errors encountered:\n${errors.join("\n")}`];
    if (parts.length === 0) {
      throw new Fault("invalid_argument", { message: `No file could be read.\n\n${failed.join("")}` });
    }
    return text([`Successfully read ${parts.length} file(s):`, ...parts, ...failed].join("\n\n"));
  },
});

const noRoom = new Fault("invalid_argument", {
  message: "Left out, because the answer would be too large: read it in another call",
});
