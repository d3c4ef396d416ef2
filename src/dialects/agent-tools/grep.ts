// `grep`: a search by regular expression, as a list of files, of lines or of counts, with pages over the results.
import type { CallContext } from "../../contract/context.ts";
import { nameBelow } from "../../contract/render/paths.ts";
import { text, tool } from "../../contract/tool.ts";
import { includeGlobs } from "../../engine/search/globs.ts";
import { grep as search } from "../../engine/search/grep.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import { GrepPage } from "./grep-page.ts";
import { pathAt } from "./names.ts";
import { covering } from "./scope.ts";
import { binary } from "./text-file.ts";

const maxContext = 1000;
const timeoutMs = 120_000; // the contract names none
const maxLineBytes = 8192; // more than is shown of a line
const leastBytes = "a:1:\n".length; // of a line in an answer
const given = { files_with_matches: "files", content: "lines", count: "counts" } as const;
const contextSchema = { type: "integer", minimum: 0 } as const;

export const grep = tool({
  name: "grep",
  title: "Search in files",
  description:
    "Search file contents by regular expression (Rust syntax), recursively. Lists the files that match, or with " +
    '`output_mode: "content"` the lines, or with "count" how many lines match in each file. Hidden files are ' +
    "searched; ignored, binary and oversized files and `.git/` are not. Sorted by path and line.",
  input: {
    type: "object",
    properties: {
      pattern: { type: "string", description: "Regular expression (Rust/ripgrep syntax)." },
      path: { type: "string", description: "File or directory to search. Default: the workspace root." },
      glob: {
        type: "string",
        description: "Only files matching this glob; without a slash it matches names at any depth.",
      },
      output_mode: {
        type: "string",
        enum: ["files_with_matches", "content", "count"],
        default: "files_with_matches",
        description: "What to print: paths, `path:line:text`, or `path:count`.",
      },
      ignore_case: { type: "boolean", default: false, description: "Case-insensitive matching." },
      multiline: {
        type: "boolean",
        default: false,
        description: "Match across lines: `.` spans line breaks, `^` and `$` match at line bounds.",
      },
      context: {
        ...contextSchema,
        default: 0,
        description: "Lines of context on both sides (content mode).",
      },
      before_context: {
        ...contextSchema,
        description: "Lines before each match; overrides `context` for that side.",
      },
      after_context: {
        ...contextSchema,
        description: "Lines after each match; overrides `context` for that side.",
      },
      head_limit: {
        type: "integer",
        minimum: 1,
        description: "Maximum results: files, or matching lines in content mode. Default: no limit.",
      },
      offset: {
        type: "integer",
        minimum: 0,
        default: 0,
        description: "0-based number of results to skip. Counts results, not lines of a file.",
      },
    },
    required: ["pattern"],
    additionalProperties: false,
  },
  effect: "reads",
  paths: ["path"],
  async run(params, call) {
    const { output_mode: mode, context, offset, head_limit: limit } = params;
    const inContent = mode === "content";
    const before = inContent ? Math.min(params.before_context ?? context, maxContext) : 0;
    const after = inContent ? Math.min(params.after_context ?? context, maxContext) : 0;
    using place = placeOf(params, call);
    const query = { pattern: params.pattern, ignoreCase: params.ignore_case, multiline: params.multiline };
    const options = {
      ...covering(true),
      include: place.include,
      file: place.file,
      binary,
      maxFileSize: call.settings.maxFileBytes,
      maxLineBytes,
      perMatch: params.multiline,
      timeoutMs,
      signal: call.signal,
    };
    const page = new GrepPage({ offset, limit, before, after, cap: call.settings.maxOutputBytes });
    if (place.excluded) return text(page.print());
    const form = given[mode];
    // More lines than an answer has room for are counted below, not held here.
    const fitting = inContent
      ? Math.ceil(call.settings.maxOutputBytes / leastBytes)
      : Number.POSITIVE_INFINITY;
    const most = Math.min(limit ?? Number.POSITIVE_INFINITY, fitting);
    const sought = Number.isFinite(most) ? offset + most + 1 : undefined;
    const found = search(place.directory, query, { ...options, form, before, after, limit: sought });
    for await (const file of found) {
      const name = place.named(file.path);
      if (inContent) page.addLines(name, file.lines);
      else page.add(mode === "count" ? `${name}:${file.count}` : name);
    }
    if (found.report.stopped !== "limit") return text(page.print(found.report.stopped));
    // A page is found soon; how many results there are in all takes a look at every file, but none at their lines.
    const all = search(place.directory, query, { ...options, form: inContent ? "counts" : form });
    let total = 0;
    for await (const { count = 0 } of all) total += inContent ? count : 1;
    return text(page.print(all.report.stopped, total));
  },
});

/** Where to search: a directory, or one file in it. */
function placeOf({ path = ".", glob }: { path?: string; glob?: string }, call: CallContext) {
  const { workspace } = call;
  const at = pathAt(call, path);
  const globs =
    glob === undefined ? undefined : includeGlobs([glob], { strict: true, slashless: "base-name" });
  const located = workspace.stat(at).kind === "directory" ? undefined : fileAt(workspace, at);
  const directory = workspace.directory(located?.directory ?? at);
  return {
    directory,
    file: located?.name,
    include: located === undefined ? globs : undefined,
    /** A glob that a single file does not match. */
    excluded: located !== undefined && globs?.matches(located.name) === false,
    named: (found: string) => (located === undefined ? nameBelow(at, found) : at.given),
    [Symbol.dispose]: () => directory.close(),
  };
}

/** The directory in which a file really is, and its name there: searches follow no links. */
function fileAt(workspace: Workspace, at: WorkspacePath) {
  workspace.file(at).close(); // refuses anything but a regular file
  const real = workspace.at(workspace.locate(at).path);
  return { directory: real.parent, name: real.name };
}
