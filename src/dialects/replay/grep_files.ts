// `grep_files`: lines that match a JavaScript expression, printed as grep prints them.
import type { CallContext } from "../../contract/context.ts";
import { text, tool } from "../../contract/tool.ts";
import { Fault } from "../../engine/fault.ts";
import { looserPattern } from "../../engine/regex/looser-pattern.ts";
import { nulWithin } from "../../engine/search/binary.ts";
import type { Globs } from "../../engine/search/globs.ts";
import type { FileHits } from "../../engine/search/grep-terms.ts";
import { matchLines } from "../../engine/search/match-lines.ts";
import { walk } from "../../engine/search/walk.ts";
import type { Directory } from "../../engine/workspace/directory.ts";
import { under } from "../../engine/workspace/root.ts";
import { nativeForm } from "../../engine/workspace/windows-path.ts";
import { excluded, excludeGlobsProperty, Trees } from "./globs.ts";
import { readable } from "./paths.ts";
import { maxAnswerBytes } from "./room.ts";
import { missingParam } from "./words.ts";

const mostContext = 50;
const mostResults = 10_000;
const timeoutMs = 30_000;
const batchMs = 10_000;
const isBinary = nulWithin(4096);

export const grepFiles = tool({
  name: "grep_files",
  title: "Search file contents",
  description:
    "Search the contents of files, line by line, with an ECMAScript (JavaScript) regex. To search one directory, " +
    "set directory: relative globs start there, and without it in the whole project. Escape " +
    "metacharacters to search for literal text. For names use glob_search or search_files.",
  input: {
    type: "object",
    properties: {
      regex: { type: "string", description: "ECMAScript regex, searched in file contents." },
      directory: { type: "string", description: "Directory to search recursively." },
      globs: {
        type: "array",
        items: { type: "string" },
        description: "Only these files; relative to directory (or the project), or absolute.",
      },
      excludeGlobs: excludeGlobsProperty,
      caseInsensitive: { type: "boolean", default: false, description: "Ignore case." },
      contextLines: {
        type: "integer",
        minimum: 0,
        default: 0,
        description: "Lines shown before and after each match (max 50).",
      },
      maxResults: {
        type: "integer",
        minimum: 1,
        default: 500,
        description: "Most matching lines in all (max 10000).",
      },
    },
    required: ["regex"],
  },
  effect: "reads",
  paths: ["directory"],
  async run(params, call) {
    const { regex, directory: given, excludeGlobs, caseInsensitive } = params;
    const globs = params.globs?.length === 0 ? undefined : params.globs;
    if (given === undefined && globs === undefined) throw missingParam("directory or globs");
    const context = Math.min(params.contextLines, mostContext);
    const most = Math.min(params.maxResults, mostResults);
    using places = placesOf(call, given, globs);
    const answer = new GrepAnswer(context, most);
    const seen = new Set<string>();
    const looser = looserPattern(regex, caseInsensitive);
    let tooLarge = 0;
    for (const { directory, include } of places.trees) {
      const search = matchLines(
        directory,
        { source: regex, flags: caseInsensitive ? "i" : "", looser },
        {
          include,
          exclude: excluded(directory, excludeGlobs, places.base),
          context,
          // Where trees overlap, a file must not count twice.
          limit: places.trees.length > 1 ? undefined : answer.left + 1,
          binary: isBinary,
          timeoutMs,
          batchMs,
          signal: call.signal,
        },
      );
      for await (const file of search) {
        const path = nativeForm(under(directory.path, file.path));
        if (seen.has(path)) continue;
        if (places.trees.length > 1) seen.add(path);
        answer.add(path, file);
        if (answer.isFull) break;
      }
      if (search.report.stopped === "time") throw new Fault("timeout", { ms: timeoutMs, what: regex });
      tooLarge += search.report.tooLarge;
      if (answer.isFull) break;
    }
    const notes = [
      ...(tooLarge > 0 ? [`[${tooLarge} file(s) skipped: larger than 64 MB]`] : []),
      ...(places.outside > 0 ? [`[${places.outside} path(s) skipped: outside the allowed directories]`] : []),
    ];
    if (answer.matches > 0) return text([...answer.lines(), ...notes].join("\n"));
    const found = await anyFile(places.trees, excludeGlobs, places.base, call.signal);
    return text([found ? "(no matches found)" : "(no files to search)", ...notes].join("\n"));
  },
});

interface GrepScope extends Disposable {
  readonly trees: readonly { readonly directory: Directory; readonly include?: Globs }[];
  readonly outside: number;
  /** What relative globs are read against. */
  readonly base: string;
}

function placesOf({ workspace }: CallContext, given?: string, globs?: readonly string[]): GrepScope {
  // The directory is checked even where every glob is absolute.
  const root = readable(workspace, given ?? ".");
  if (globs === undefined) {
    const directory = workspace.directory(root.path);
    return { trees: [{ directory }], outside: 0, base: root.at, [Symbol.dispose]: () => directory.close() };
  }
  const selected = Trees.of(workspace, globs, given);
  const { trees, outside } = selected;
  return { trees, outside, base: root.at, [Symbol.dispose]: () => selected[Symbol.dispose]() };
}

/** Whether there is a file to search at all; checked only if nothing was found. */
async function anyFile(
  trees: GrepScope["trees"],
  exclude: readonly string[] | undefined,
  base: string,
  signal: AbortSignal,
): Promise<boolean> {
  for (const { directory, include } of trees) {
    const scope = { include, exclude: excluded(directory, exclude, base), signal };
    for await (const { kind } of walk(directory, scope)) if (kind === "file") return true;
  }
  return false;
}

/** The lines of the answer, up to the requested number of matches and the size of an answer. */
class GrepAnswer {
  readonly #context: number;
  readonly #most: number;
  readonly #lines: string[] = [];
  #size = 0;
  #cut = false;
  matches = 0;

  constructor(context: number, most: number) {
    this.#context = context;
    this.#most = most;
  }

  get left(): number {
    return this.#most - this.matches;
  }

  /** Whether there is more than was taken. */
  get isFull(): boolean {
    return this.#cut;
  }

  add(path: string, { lines }: FileHits): void {
    const matching = lines.filter(({ column }) => column !== undefined);
    const shown = matching.slice(0, this.left);
    this.#cut = shown.length < matching.length;
    const last = shown.at(-1)?.number;
    if (last === undefined) return;
    let before: number | undefined;
    for (const { number, column, text: content, cut } of lines) {
      if (number > last + this.#context) return;
      const isMatch = column !== undefined && number <= last;
      if (before === undefined ? this.matches > 0 : number > before + 1) this.#separate();
      const mark = isMatch ? ":" : "-";
      this.#push(`${path}${mark}${number}${mark}${content}${cut ? " [line cut]" : ""}`);
      if (isMatch) this.matches += 1;
      before = number;
      this.#cut ||= this.#size > maxAnswerBytes;
      if (this.#size > maxAnswerBytes) return;
    }
  }

  lines(): string[] {
    const count = `[${this.matches} ${this.matches === 1 ? "match" : "matches"}]`;
    const notice = `[truncated: only the first ${this.matches} matches are shown; narrow the search or raise maxResults]`;
    return this.#cut ? [notice, ...this.#lines, count] : [...this.#lines, count];
  }

  #separate(): void {
    if (this.#context > 0) this.#push("--");
  }

  #push(line: string): void {
    this.#lines.push(line);
    this.#size += line.length + 1;
  }
}
