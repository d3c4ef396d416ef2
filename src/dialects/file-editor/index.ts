// The `file-editor` dialect: seven tools in a workspace that the caller chooses first. Everything that fails,
// a tool that does not exist included, is a result with `isError` and one sentence.
import type { Dialect } from "../../contract/dialect.ts";
import { text } from "../../contract/tool.ts";
import { say } from "../../contract/wording.ts";
import { applyDiffs } from "./apply_diffs.ts";
import { insertContents } from "./insert_contents.ts";
import { listFiles } from "./list_files.ts";
import { readFiles } from "./read_files.ts";
import { searchAndReplace } from "./search_and_replace.ts";
import { setWorkspace } from "./set_workspace.ts";
import { directoryWording, wording } from "./wording.ts";
import { writeFiles } from "./write_files.ts";

export const fileEditor: Dialect = {
  name: "file-editor",
  title: "File Editor",
  summary:
    "seven tools in a workspace chosen at run time: read, write, diff, insert, replace and list, by line",
  tools: [setWorkspace, readFiles, writeFiles, applyDiffs, insertContents, searchAndReplace, listFiles],
  wording,
  instructions:
    "Call set_workspace first: until then every other tool is refused, and nothing outside the workspace can be " +
    "reached. Paths are relative to the workspace, or absolute and inside it. Lines are what lies between line " +
    'breaks: "a\\n" has two, the last one empty; read_files shows their numbers, which apply_diffs, ' +
    "insert_contents and search_and_replace take. Leave the numbers out when you pass text back.",
  withoutRoots: "callers-choice",
  failure(fault, { tool }) {
    const words = tool === setWorkspace || tool === listFiles ? directoryWording : wording;
    return { ...text(`Error: ${say(words, fault)}`), isError: true };
  },
};
