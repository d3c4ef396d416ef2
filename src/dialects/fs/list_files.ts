// `fs.list_files`: a page of the tree, sorted by path.
import { groupText } from "../../contract/render/group-text.ts";
import { text, tool } from "../../contract/tool.ts";
import { walkGroups } from "../../engine/search/walk.ts";
import type { Group } from "../../engine/search/walker.ts";
import type { DirectoryEntry } from "../../engine/workspace/directory-entry.ts";
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
    const { include_dirs, include_metadata, skip, max_results } = params;
    const below = tree.named("");
    const form = `list_files ${include_dirs} ${below}`;
    const pieces: string[] = [];
    let entries: ListedEntry[] = [];
    const flush = () => {
      if (entries.length > 0) pieces.push(JSON.stringify(entries).slice(1, -1));
      entries = [];
    };
    let met = 0;
    let more = false;
    const maxDepth = params.recursive ? undefined : 0;
    const scope = { ...tree.scope, maxDepth, signal: call.signal };
    await walkGroups(tree.directory, scope, group => {
      if (!include_metadata && met >= skip) {
        const { text, count } = groupText(group, form, () => listedIn(group, below, include_dirs));
        if (met + count <= skip + max_results) {
          met += count;
          flush();
          if (count > 0) pieces.push(text);
          return true;
        }
      }
      for (const entry of group.entries) {
        if (!isListed(entry, include_dirs) || met++ < skip) continue;
        more = met > skip + max_results;
        if (more) return false;
        const one = listed(tree.named(group.prefix + entry.name), entry);
        const stat = include_metadata ? group.parent()?.stat(entry) : undefined;
        entries.push(stat === undefined ? one : { ...one, ...metadata(stat) });
      }
      return true;
    });
    flush();
    return text(`{"entries":[${pieces.join(",")}],"has_more":${more}}`);
  },
});

function isListed({ kind }: DirectoryEntry, directories: boolean): boolean {
  return kind === "file" || (directories && kind === "directory");
}

function listed(path: string, { kind }: DirectoryEntry): ListedEntry {
  return { path, is_dir: kind === "directory" };
}

/** The entries of a group without their metadata, whose paths begin with `below`. */
function listedIn({ prefix, entries }: Group, below: string, directories: boolean) {
  const head = `{"path":${JSON.stringify(below + prefix).slice(0, -1)}`;
  const all: string[] = [];
  for (const entry of entries) {
    if (!isListed(entry, directories)) continue;
    all.push(`${head}${JSON.stringify(entry.name).slice(1)},"is_dir":${entry.kind === "directory"}}`);
  }
  return { text: all.join(","), count: all.length };
}

function metadata({ size, modified }: Stat): Pick<ListedEntry, "size" | "modified"> {
  return { size, modified: Math.floor(modified.getTime() / 1000) };
}
