// `glob`: files by pattern, the newest first.
import { nameBelow } from "../../contract/render/paths.ts";
import { text, tool } from "../../contract/tool.ts";
import { includeGlobs } from "../../engine/search/globs.ts";
import { compareBytes } from "../../engine/search/order.ts";
import { FirstItems } from "../../engine/search/sort.ts";
import { walkGroups } from "../../engine/search/walk.ts";
import { pathAt } from "./names.ts";
import { capped } from "./output.ts";
import { covering } from "./scope.ts";

interface FoundPath {
  readonly path: string;
  readonly modified: number;
}

export const glob = tool({
  name: "glob",
  title: "Find files",
  description:
    "Find files (not directories) by glob pattern, most recently modified first. `*` stays within a directory: " +
    "`*.ts` looks in the base directory only, `**/*.ts` at any depth. Hidden files are included, ignored ones and " +
    "`.git/` are not.",
  input: {
    type: "object",
    properties: {
      pattern: { type: "string", description: "Glob pattern relative to `path`, e.g. `**/*.ts`." },
      path: { type: "string", description: "Base directory to search from. Default: the workspace root." },
      respect_gitignore: {
        type: "boolean",
        default: true,
        description: "Skip files that git ignores. `.git/` is always skipped.",
      },
    },
    required: ["pattern"],
    additionalProperties: false,
  },
  effect: "reads",
  paths: ["path"],
  async run({ pattern, path = ".", respect_gitignore }, call) {
    const cap = call.settings.maxOutputBytes;
    const at = pathAt(call, path);
    using directory = call.workspace.directory(at);
    const include = includeGlobs([pattern], { strict: true, absolute: directory.path });
    // A path and its line break are two bytes at least, so no more than these can be shown.
    const newest = new FirstItems<FoundPath>(Math.ceil(cap / 2) + 1, byAge);
    let bytes = -1;
    const scope = { ...covering(respect_gitignore), include, signal: call.signal };
    await walkGroups(directory, scope, ({ prefix, entries, parent }) => {
      for (const entry of entries) {
        const stat = entry.kind === "file" ? parent()?.stat(entry) : undefined;
        if (stat === undefined) continue;
        const name = nameBelow(at, prefix + entry.name);
        bytes += Buffer.byteLength(name) + 1;
        newest.add({ path: name, modified: stat.modified.getTime() });
      }
      return true;
    });
    if (newest.count === 0) return text("(no matches)");
    const lines = newest.sorted().map(({ path }) => path);
    return capped(lines.join("\n"), cap, bytes);
  },
});

function byAge(a: FoundPath, b: FoundPath): number {
  return b.modified - a.modified || compareBytes(a.path, b.path);
}
