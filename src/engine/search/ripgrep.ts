// How ripgrep is told what to do. It starts in a held directory and searches `.`; nothing that a caller wrote is
// ever read as an option; its own configuration, and rules from above the granted root, stay out.
//
// Globs and rules given to it here only narrow what it looks at. Whatever it reports is decided upon again by our
// own (grep.ts), so they may let too much through but never too little.
import { Fault } from "../fault.ts";
import { type Process, startProcess } from "../shell/process.ts";
import type { Directory } from "../workspace/directory.ts";
import { UnnamedFile } from "../workspace/system/unnamed-file.ts";
import type { Standpoint } from "./above.ts";
import { userExcludes } from "./excludes.ts";
import type { Globs } from "./globs.ts";
import { seeksCarriageReturn, withoutLineBreaks } from "./line-breaks.ts";
import type { Scope } from "./walker.ts";

export interface Query {
  readonly pattern: string;
  /** The pattern is plain text; otherwise a regular expression in Rust's syntax. */
  readonly literal?: boolean | undefined;
  readonly ignoreCase?: boolean | undefined;
  readonly wholeWord?: boolean | undefined;
  /** A line break in the expression matches nothing, as no line holds one; otherwise it is refused. */
  readonly lineByLine?: boolean | undefined;
  /** A match may span lines, and `.` matches line breaks. */
  readonly multiline?: boolean | undefined;
  /** Allow look-around and back-references, at the price of linear time. Give such a search a time limit. */
  readonly lookaround?: boolean | undefined;
}

export interface Printing {
  readonly before: number;
  readonly after: number;
  /** The most matching lines per file that can be of use. */
  readonly maxPerFile: number | undefined;
  readonly maxFileSize: number | undefined;
}

let found: Promise<string> | undefined;

/** Where the program is. Looked up at the first search: starting up must not wait for it. */
export function ripgrepPath(): Promise<string> {
  found ??= import("@vscode/ripgrep").then(({ rgPath }) => rgPath);
  found.catch(() => {}); // told to whoever starts it
  return found;
}

/** Starts it in `start`, where the rules of `above` hold. */
export async function startRipgrep(
  start: Directory,
  args: readonly string[],
  above: Standpoint,
  signal?: AbortSignal,
): Promise<Process> {
  const program = await ripgrepPath();
  if (signal?.aborted) throw new Fault("cancelled", {}); // the directory may be closed by now
  const rules = placeOf(above) === "below" ? above.rules.anywhere : "";
  using input = rules === "" ? undefined : UnnamedFile.of(rules);
  const surroundings = { cwd: start.address, env: environment(), signal, input: input?.fd };
  return await startProcess(program, args, surroundings).catch(error => {
    // The program is ours and can be run: what may not be entered is the directory.
    if (Fault.is(error, "spawn_failed") && error.data.errno === "EACCES")
      throw new Fault("permission_denied", { path: start.given }, { cause: error });
    throw error;
  });
}

function environment(): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of ["PATH", "SystemRoot", "TMPDIR"]) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return env;
}

/** Where ripgrep starts: at the top (above.ts), and so where anchored rules of the user count from, or further below. */
type Place = "top" | "below";

export function placeOf({ prefix }: Standpoint): Place {
  return prefix === "" ? "top" : "below";
}

/** The ignore rules that hold where it starts are in its standard input. */
const rulesFromInput = process.platform === "linux" ? "/proc/self/fd/0" : "/dev/fd/0";

export function searchArguments(
  query: Query,
  scope: Scope,
  place: Place,
  printing: Printing,
  files?: readonly string[],
): string[] {
  const args = ["--no-config", "--color=never", "--no-heading", "--with-filename", "--null", "--line-number"];
  args.push("--column", "--no-context-separator", "--text", "--no-ignore-messages", "--stats");
  if (!seeksCarriageReturn(query.pattern, query.literal)) args.push("--crlf");
  args.push(query.ignoreCase ? "--ignore-case" : "--case-sensitive");
  if (query.wholeWord) args.push("--word-regexp");
  if (query.multiline) args.push("--multiline", "--multiline-dotall");
  if (query.lookaround) args.push("--engine=auto");
  if (printing.before > 0) args.push(`--before-context=${printing.before}`);
  if (printing.after > 0) args.push(`--after-context=${printing.after}`);
  if (printing.maxPerFile !== undefined) args.push(`--max-count=${printing.maxPerFile}`);
  if (printing.maxFileSize !== undefined) args.push(`--max-filesize=${printing.maxFileSize}`);
  args.push(...scopeArguments(scope, place), ...patternArguments(query));
  return [...args, "--", ...(files === undefined ? ["."] : files.map(file => `./${file}`))];
}

/** What narrows the walk; the same for searching and for listing. */
export function scopeArguments({ ignore, include, exclude, maxDepth }: Scope, place: Place): string[] {
  const args = ["--no-ignore-parent", "--no-ignore-global", "--no-require-git", "--no-follow"];
  args.push(ignore?.hidden === false ? "--no-hidden" : "--hidden");
  if (ignore?.rules) args.push("--glob=!.git", ...(place === "top" ? userRules() : rulesAbove));
  else args.push("--no-ignore");
  if (maxDepth !== undefined && Number.isFinite(maxDepth)) args.push(`--max-depth=${maxDepth + 1}`);
  for (const ending of include?.endings ?? []) args.push(`--type-add=wanted:*${wider(ending)}`);
  if ((include?.endings ?? []).length > 0) args.push("--type=wanted");
  if (exclude !== undefined) args.push(...exclusions(exclude));
  return args;
}

/** A `.gitignore` further up wins over a `.git/info/exclude` further down, of which ripgrep thinks otherwise. */
const rulesAbove = [`--ignore-file=${rulesFromInput}`, "--no-ignore-exclude"];

function userRules(): string[] {
  const excludes = userExcludes();
  return excludes === undefined ? [] : [`--ignore-file=${excludes.path}`];
}

/** Only names and stars that mean the same to both are handed over, so that whole directories are not entered. */
function exclusions({ patterns, simple }: Globs): string[] {
  if (!simple) return [];
  return patterns.flatMap(pattern => {
    if (!/^(\*\*\/)?[\w.-][\w./-]*(\/\*\*)?$/.test(pattern) || pattern.includes("//")) return [];
    return [`--glob=!/${pattern.replace(/\/\*\*$|\/$/, "")}`];
  });
}

/** An ending as a glob that ripgrep matches with the base name: whatever its case, and a little wider than it is. */
function wider(ending: string): string {
  return ending.replace(/./gsu, c => {
    if (/[a-z]/i.test(c)) return `[${c.toLowerCase()}${c.toUpperCase()}]`;
    return /\w/.test(c) ? c : c < "\x7f" ? "?" : "*";
  });
}

function patternArguments({ pattern: written, literal, lineByLine }: Query): string[] {
  const pattern = lineByLine && !literal ? withoutLineBreaks(written) : written;
  if (!pattern.includes("\0")) return literal ? ["--fixed-strings", "-e", pattern] : ["-e", pattern];
  const source = literal ? pattern.replace(/[\\^$.*+?()[\]{}|#&~-]/g, "\\$&") : pattern;
  return ["-e", source.replaceAll("\0", "\\x00")];
}
