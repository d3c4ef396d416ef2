// `glob_search`: files by globs.
import { text, tool } from "../../contract/tool.ts";
import { walkGroups } from "../../engine/search/walk.ts";
import { nativeForm } from "../../engine/workspace/windows-path.ts";
import { excluded, excludeGlobsProperty, included } from "./globs.ts";
import { leadsTo } from "./leads-to.ts";
import { readable } from "./paths.ts";
import { CheckedLines } from "./room.ts";

export const globSearch = tool({
  name: "glob_search",
  title: "Search files by glob",
  description:
    "Find files (not directories) below a directory by globs: ** any directories, * and ? within a name, {a,b}, " +
    "[abc]; ignoring case. A glob without a slash matches the name at any depth. For the contents of files " +
    "use grep_files, for a part of a name search_files.",
  input: {
    type: "object",
    properties: {
      directory: { type: "string", description: "Root directory." },
      globs: { type: "array", items: { type: "string" }, description: "Globs relative to directory." },
      excludeGlobs: excludeGlobsProperty,
      max: { type: "integer", minimum: 0, default: 1000, description: "Most results; 0 is unlimited." },
    },
    required: ["directory", "globs"],
  },
  effect: "reads",
  paths: ["directory"],
  async run({ directory: given, globs, excludeGlobs, max }, { workspace, signal }) {
    const { path: root } = readable(workspace, given);
    using directory = workspace.directory(root);
    const include = included(directory, globs);
    const exclude = excluded(directory, excludeGlobs);
    const found = new CheckedLines(given);
    const base = directory.path.replace(/\/$/, "");
    let stopped = false;
    await walkGroups(directory, { include, exclude, signal }, ({ prefix, entries }) => {
      for (const { name, kind } of entries) {
        const path = prefix + name;
        const isFile =
          kind === "file" || (kind === "symlink" && leadsTo(workspace, root.below(path)) === "file");
        if (!isFile) continue;
        stopped = max > 0 && found.count === max;
        if (stopped) return false;
        found.add(nativeForm(`${base}/${path}`));
      }
      return true;
    });
    if (stopped) {
      const more = `[stopped at ${max} results; raise max or narrow the globs]`;
      return { content: [found.toString(), more].map(item => ({ type: "text", text: item })) };
    }
    return text(found.count === 0 ? "(no matches)" : found.toString());
  },
});
