// `search_files`: files and directories by a part of their name.
import { text, tool } from "../../contract/tool.ts";
import { walkGroups } from "../../engine/search/walk.ts";
import { nativeForm } from "../../engine/workspace/windows-path.ts";
import { excluded, excludeGlobsProperty } from "./globs.ts";
import { readable } from "./paths.ts";
import { CheckedLines } from "./room.ts";

export const searchFiles = tool({
  name: "search_files",
  title: "Search files by name",
  description:
    "Find files and directories below a directory whose name contains a text, whatever its case. The text is " +
    "literal: for globs use glob_search, for the contents of files grep_files. All matches are returned.",
  input: {
    type: "object",
    properties: {
      directory: { type: "string", description: "Root directory, searched recursively." },
      nameContains: { type: "string", description: "Literal text that the base name contains." },
      excludeGlobs: excludeGlobsProperty,
    },
    required: ["directory", "nameContains"],
  },
  effect: "reads",
  paths: ["directory"],
  aliases: { path: "directory", pattern: "nameContains", excludePatterns: "excludeGlobs" },
  async run({ directory: given, nameContains, excludeGlobs }, { workspace, signal }) {
    using directory = workspace.directory(readable(workspace, given).path);
    const wanted = nameContains.toLowerCase();
    const found = new CheckedLines(given);
    const exclude = excluded(directory, excludeGlobs);
    const base = directory.path.replace(/\/$/, "");
    await walkGroups(directory, { exclude, order: "tree", signal }, ({ prefix, entries }) => {
      for (const { name } of entries) {
        if (name.toLowerCase().includes(wanted)) found.add(nativeForm(`${base}/${prefix}${name}`));
      }
      return true;
    });
    return text(found.count === 0 ? "(no matches found)" : found.toString());
  },
});
