// Arguments for ripgrep. It starts in a held directory and searches `.`; nothing from a caller is ever parsed as an
// option. It reads neither its own configuration nor any ignore file: those are untrusted input, possibly a link to
// `/dev/zero`. It gets the rules from us, on standard input.
//
// Globs and rules passed to it only narrow its search. Every result is checked against our own rules, so they may
// include too much but never too little.

import { append } from "../append.ts";
import { Fault } from "../fault.ts";
import { once } from "../once.ts";
import { limited } from "../shell/limited.ts";
import { type Process, type ProcessOptions, startProcess } from "../shell/process.ts";
import type { Directory } from "../workspace/directory.ts";
import { isOpeningPipe } from "../workspace/system/processes.ts";
import { UnnamedFile } from "../workspace/system/unnamed-file.ts";
import { onWindows } from "../workspace/windows-path.ts";
import type { Globs } from "./globs.ts";
import { quoted, seeksCarriageReturn, withoutLineBreaks } from "./line-breaks.ts";
import { matchChain } from "./match-chain.ts";
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
  /** Allow look-around and back-references, without linear time. Set a time limit for such a search. */
  readonly lookaround?: boolean | undefined;
  /** Report the matches of a multi-line search one by one, not only the lines that they cover (match-chain.ts). */
  readonly eachMatch?: boolean | undefined;
}

export interface Printing {
  readonly before: number;
  readonly after: number;
  /** The most matching lines per file that are needed. */
  readonly maxPerFile?: number | undefined;
  readonly maxFileSize?: number | undefined;
  /** Print where in its line the first match begins. Ripgrep then notes every match of a line, 22 bytes each. */
  readonly columns?: boolean | undefined;
  /** Print how many files were searched, at the same price. */
  readonly tally?: boolean | undefined;
}

/**
 * Ripgrep holds the longest line of each file that it reads, several times over while it grows, and in multi-line
 * searches the whole file. So much suffices for lines of 100 MB. Mapped files would not count, so none are mapped.
 */
const maxDataBytes = 1024 * 1024 * 1024;

/** Where the program is. Looked up at the first search: starting up must not wait for it. */
export const ripgrepPath = once(() => {
  const found = import("@vscode/ripgrep").then(({ rgPath }) => rgPath);
  found.catch(() => {}); // reported to the caller that starts it
  return found;
});

export interface Starting {
  readonly signal?: AbortSignal | undefined;
  /** An ignore file, for its standard input (`scopeArguments`). */
  readonly rules?: string | undefined;
  /** Open files for its descriptors from 3 on. */
  readonly files?: readonly number[] | undefined;
}

/** Starts it in `start`. */
export async function startRipgrep(
  start: Directory,
  args: readonly string[],
  { signal, rules = "", files }: Starting = {},
): Promise<Process> {
  const separator = onWindows ? ["--path-separator=/"] : [];
  const withoutOwn = [...separator, ...start.ownBelow().map(path => `--glob=!/${literal(path)}`), ...args];
  const { command, args: all } = await limited(
    { command: await ripgrepPath(), args: withoutOwn },
    maxDataBytes,
  );
  if (signal?.aborted) throw new Fault("cancelled", {}); // the directory may be closed by now
  const input = rules === "" ? undefined : UnnamedFile.of(rules);
  const told = rules === "" ? all : withRules(all, input);
  const surroundings = {
    cwd: () => start.currentPath(),
    env: environment(),
    signal,
    input: input?.fd,
    files,
  };
  try {
    const child = await started(command, told, surroundings, start.given);
    endIfStuck(child);
    if (UnnamedFile.isNamed) void child.exit.then(() => input?.[Symbol.dispose]());
    else input?.[Symbol.dispose]();
    return child;
  } catch (error) {
    input?.[Symbol.dispose]();
    throw error;
  }
}

/** How often to check whether it is stuck. */
const checkMs = 1000;

/**
 * Ends it if it waits for the other end of a named pipe. It opens regular files only, but another program can put a
 * pipe in the place of one between its look and its open.
 */
function endIfStuck(child: Process): void {
  const timer = setInterval(() => {
    if (isOpeningPipe(child.pid)) child.kill();
  }, checkMs).unref();
  void child.exit.then(() => clearInterval(timer));
}

/** Ends it when its time is up. */
export function killedAfter(child: Process, timeoutMs: number | undefined): Disposable {
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => child.kill(), Math.max(0, timeoutMs));
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

/** The first such argument is ours: patterns come after it. Without room for a file there are no rules. */
function withRules(args: readonly string[], input: UnnamedFile | undefined): string[] {
  const by = input === undefined ? [] : [`--ignore-file=${input.address(0)}`];
  return args.toSpliced(args.indexOf(rulesFromInput), 1, ...by);
}

async function started(
  command: string,
  args: readonly string[],
  surroundings: ProcessOptions,
  given: string,
): Promise<Process> {
  return await startProcess(command, args, surroundings).catch(error => {
    // The program is ours and can be run, so it is the directory that cannot be entered.
    if (Fault.is(error, "spawn_failed") && error.data.errno === "EACCES")
      throw new Fault("permission_denied", { path: given }, { cause: error });
    throw error;
  });
}

/** A path as a glob that matches nothing else. */
function literal(path: string): string {
  return path.replace(/[\\*?[\]{}!]/g, "\\$&");
}

function environment(): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of ["PATH", "SystemRoot", "TMPDIR", "TEMP", "TMP"]) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return env;
}

/** A placeholder for its standard input until it exists. */
const rulesFromInput = "--ignore-file=-";

/** The address of the `index`th of the open files that it is started with. */
export function fileAddress(file: UnnamedFile, index: number): string {
  return file.address(index + 3);
}

/** Searches `paths`, each with a leading `./` or absolute. */
export function searchArguments(
  query: Query,
  printing: Printing,
  scope: readonly string[],
  paths: readonly string[],
): string[] {
  const args = ["--no-config", "--color=never", "--no-heading", "--with-filename", "--null", "--line-number"];
  args.push("--no-context-separator", "--text", "--no-mmap", "--no-ignore-messages");
  if (printing.columns) args.push("--column");
  if (printing.tally) args.push("--stats");
  if (!seeksCarriageReturn(query.pattern, query.literal)) args.push("--crlf");
  args.push(query.ignoreCase ? "--ignore-case" : "--case-sensitive");
  if (query.wholeWord && !isChained(query)) args.push("--word-regexp");
  if (query.multiline) args.push("--multiline", "--multiline-dotall");
  if (query.lookaround) args.push("--engine=auto");
  if (printing.before > 0) args.push(`--before-context=${printing.before}`);
  if (printing.after > 0) args.push(`--after-context=${printing.after}`);
  // In multi-line searches the limit would count matches, of which a line may have many.
  if (printing.maxPerFile !== undefined && !query.multiline) args.push(`--max-count=${printing.maxPerFile}`);
  if (printing.maxFileSize !== undefined) args.push(`--max-filesize=${printing.maxFileSize}`);
  return [...args, ...scope, ...patternArguments(query), "--", ...paths];
}

/** What narrows the walk; the same for searching and for listing. `rules` are its standard input. */
export function scopeArguments({ ignore, include, exclude, maxDepth }: Scope, rules: string): string[] {
  const args = ["--no-ignore", "--no-follow", ignore?.hidden === false ? "--no-hidden" : "--hidden"];
  if (ignore?.rules) args.push("--glob=!.git");
  if (rules !== "") args.push(rulesFromInput);
  if (maxDepth !== undefined && Number.isFinite(maxDepth)) args.push(`--max-depth=${maxDepth + 1}`);
  for (const ending of include?.endings ?? []) args.push(`--type-add=wanted:*${wider(ending)}`);
  if ((include?.endings ?? []).length > 0) args.push("--type=wanted");
  if (exclude !== undefined) append(args, exclusions(exclude));
  return args;
}

/** Only names and stars that mean the same to both are handed over, so that whole directories are not entered. */
function exclusions({ patterns, simple }: Globs): string[] {
  if (!simple) return [];
  return patterns.flatMap(pattern => {
    if (!/^(\*\*\/)?[\w.-][\w./-]*(\/\*\*)?$/.test(pattern) || pattern.includes("//")) return [];
    return [`--glob=!/${pattern.replace(/\/\*\*$|\/$/, "")}`];
  });
}

/** A suffix as a glob that ripgrep matches against the base name: case-insensitive, and slightly wider. */
function wider(ending: string): string {
  return ending.replace(/./gsu, c => {
    if (/[a-z]/i.test(c)) return `[${c.toLowerCase()}${c.toUpperCase()}]`;
    return /\w/.test(c) ? c : c < "\x7f" ? "?" : "*";
  });
}

function patternArguments(query: Query): string[] {
  const { pattern: written, literal, lineByLine } = query;
  const chain = chainOf(query);
  if (chain !== undefined) return ["-e", chain];
  const pattern = lineByLine && !literal ? withoutLineBreaks(written) : written;
  if (!pattern.includes("\0")) return literal ? ["--fixed-strings", "-e", pattern] : ["-e", pattern];
  return ["-e", sourceOf(pattern, literal)];
}

/** Whether ripgrep gets a chain of matches in place of the pattern. If it refuses that, it may take the pattern itself. */
export function isChained(query: Query): boolean {
  return chainOf(query) !== undefined;
}

function chainOf({ pattern, literal, multiline, eachMatch, wholeWord }: Query): string | undefined {
  if (!multiline || eachMatch) return undefined;
  return matchChain(sourceOf(pattern, literal), wholeWord);
}

function sourceOf(pattern: string, literal = false): string {
  const source = literal ? quoted(pattern) : pattern;
  return source.replaceAll("\0", "\\x00");
}
