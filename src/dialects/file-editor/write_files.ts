// `write_files`: whole files, exactly as given, all of them or none.
import { text } from "../../contract/tool.ts";
import { Fault } from "../../engine/fault.ts";
import { countLines } from "../../engine/text/lines.ts";
import { encode } from "../../engine/text/text.ts";
import type { Change } from "../../engine/workspace/commit/change.ts";
import { pathForms, pathsOf, valuesFor } from "./forms.ts";
import { otherNames, writing } from "./text-file.ts";
import { workspaceTool } from "./workspace-tool.ts";

export const writeFiles = workspaceTool({
  name: "write_files",
  title: "Write files",
  description:
    "Create new files or completely overwrite existing files. Supports single or multiple files at once.",
  input: {
    type: "object",
    properties: {
      path: pathForms("The path of the single target file", "An array of target file paths"),
      content: {
        oneOf: [
          {
            type: "string",
            description: "The full content to write, for single file or same content for all files",
          },
          {
            type: "array",
            items: { type: "string" },
            description: "An array of content for each file, for different content per file",
          },
        ],
      },
      line_count: {
        oneOf: [
          {
            type: "integer",
            description: "Total number of lines in the file, for single file or same for all files",
            minimum: 0,
          },
          {
            type: "array",
            items: { type: "integer", minimum: 0 },
            description: "An array of line counts for each file, for different line counts per file",
          },
        ],
      },
    },
    required: ["path", "content", "line_count"],
  },
  effect: "writes",
  idempotent: true,
  paths: ["path"],
  async run({ path, content, line_count }, workspace, call) {
    const paths = pathsOf(path);
    const contents = valuesFor(paths, content, "content");
    const announced = valuesFor(paths, line_count, "line_count");
    const changes: Change[] = [];
    for (const [i, one] of paths.entries()) {
      const at = workspace.at(one);
      if (at.isRoot) throw new Fault("not_a_file", { path: one, kind: "directory" });
      changes.push({ kind: "write", path: at, bytes: await encode(one, contents[i] ?? "") });
    }
    const commit = await workspace.commit(changes, { ...writing("write_files", call), parents: true });
    const counts = contents.map(one => countLines(one, "split"));
    const wrong = paths.flatMap((one, i) =>
      announced[i] === counts[i]
        ? []
        : [`\nNote: line_count for ${one} was ${announced[i]}, but the content has ${counts[i]} lines.`],
    );
    const notes = wrong.join("") + otherNames(commit, call);
    if (typeof path === "string") {
      return text(`File written successfully: ${path} (${counts[0]} lines)${notes}`);
    }
    const total = counts.reduce((sum, count) => sum + count, 0);
    const files = paths.map((one, i) => `\n  - ${one} (${counts[i]} lines)`).join("");
    return text(`Successfully wrote ${paths.length} files (${total} total lines):${files}${notes}`);
  },
});
