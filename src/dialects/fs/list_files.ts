// `fs.list_files`: a page of the tree, sorted by path.
import { text, tool } from "../../contract/tool.ts";
import { walk } from "../../engine/search/walk.ts";
import type { Stat } from "../../engine/workspace/stat.ts";
import { covered, scopeProperties } from "./scope.ts";

interface ListedEntry {
  readonly path: string;
  readonly is_dir: boolean;
  readonly size?: number;
  readonly modified?: number;
}

export const listFiles = tool({
  name: "list_files",
  title: "List files",
  description:
    "List files and (optionally) directories relative to the server root. Respects .gitignore and .ignore files. " +
    "Sorted by path; page with max_results and skip.",
  input: {
    type: "object",
    properties: {
      root: scopeProperties.root,
      recursive: { type: "boolean", default: true, description: "Recurse into subdirectories." },
      include_globs: scopeProperties.include_globs,
      exclude_globs: scopeProperties.exclude_globs,
      max_results: { type: "integer", minimum: 0, default: 500, description: "Maximum entries to return." },
      include_dirs: { type: "boolean", default: false, description: "Include directories in the results." },
      include_metadata: { type: "boolean", default: false, description: "Include size and modified fields." },
      skip: { type: "integer", minimum: 0, default: 0, description: "Matching entries to skip, for paging." },
    },
  },
  effect: "reads",
  paths: ["root"],
  async run(params, call) {
    using tree = covered(params, call);
    const entries: ListedEntry[] = [];
    let skipped = 0;
    let more = false;
    const maxDepth = params.recursive ? undefined : 0;
    await walk(tree.directory, { ...tree.scope, maxDepth, signal: call.signal }).each(entry => {
      const isDirectory = entry.kind === "directory";
      if (isDirectory ? !params.include_dirs : entry.kind !== "file") return true;
      if (skipped++ < params.skip) return true;
      more = entries.length === params.max_results;
      if (more) return false;
      const stat = params.include_metadata ? entry.stat() : undefined;
      const listed = { path: tree.named(entry.path), is_dir: isDirectory };
      entries.push(stat === undefined ? listed : { ...listed, ...metadata(stat) });
      return true;
    });
    return text(JSON.stringify({ entries, has_more: more }));
  },
});

function metadata({ size, modified }: Stat): Pick<ListedEntry, "size" | "modified"> {
  return { size, modified: Math.floor(modified.getTime() / 1000) };
}
