// Notations for a part of a file: `file:10-40` for lines, `file#Class.method` for a symbol. Lines are also read as
// compilers, stack traces and links write them: `file:10:5` and `file#L10-L40`. An existing file with this exact name
// wins.
import type { CallContext } from "../../contract/context.ts";
import { Fault } from "../../engine/fault.ts";
import { refused } from "./failure.ts";
import { pathAt } from "./paths.ts";

export interface PathPart {
  /** All of it, as the caller wrote it. */
  readonly written: string;
  readonly file: string;
  readonly lines?: { readonly from: number; readonly to: number };
  readonly symbol?: string;
}

export function partOf(written: string, call: CallContext): PathPart {
  if (!/[:#]/.test(written)) return { written, file: written };
  const lines = /^(.+):(\d+)(?:-(\d+)?)?$/s.exec(written);
  const symbol = /^(.+?)#(.+)$/s.exec(written);
  if ((lines === null && symbol === null) || exists(written, call)) return { written, file: written };
  // A symbol may end like lines: the section `host:8080` of a configuration.
  const isOfSymbol = symbol !== null && exists(symbol[1] ?? "", call) && !exists(lines?.[1] ?? "", call);
  const position = isOfSymbol ? null : /^(.+):(\d+):\d+$/s.exec(written);
  if (position !== null && !exists(written.replace(/:\d+$/, ""), call)) {
    const [, file = "", line = ""] = position;
    return { written, file, lines: { from: Number(line), to: Number(line) } };
  }
  if (lines !== null && !isOfSymbol) {
    const [, file = "", first = "", last] = lines;
    const from = Number(first);
    const to = last !== undefined ? Number(last) : /-$/.test(written) ? Number.MAX_SAFE_INTEGER : from;
    return { written, file, lines: { from, to } };
  }
  // A name may contain the sign, too: the longest existing file wins.
  for (let at = written.lastIndexOf("#"); at > 0; at = written.lastIndexOf("#", at - 1)) {
    const file = written.slice(0, at);
    if (at < written.length - 1 && exists(file, call))
      return { written, file, symbol: written.slice(at + 1) };
  }
  const [, file = "", name = ""] = symbol ?? [];
  return { written, file, symbol: name };
}

/** The lines that `#L10` or `#L10-L40` means, where no symbol has that name. */
export function linesInLink(symbol: string): PathPart["lines"] {
  const [, from, to = from] = /^L(\d+)(?:C\d+)?(?:-L?(\d+)(?:C\d+)?)?$/.exec(symbol) ?? [];
  return from === undefined ? undefined : { from: Number(from), to: Number(to) };
}

export function confirmedRange({ from, to }: NonNullable<PathPart["lines"]>) {
  if (from >= 1 && to >= from) return { from, to };
  throw refused(
    `${from}-${to} is not a range of lines`,
    "Lines count from 1, the smaller number first: file:10-40.",
  );
}

function exists(written: string, call: CallContext): boolean {
  try {
    call.workspace.stat(pathAt(call, written));
    return true;
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}

/** Parts of the same file are grouped at the first of them. A whole file is its own group. */
export function grouped(parts: readonly PathPart[]): PathPart[][] {
  const groups = new Map<string, PathPart[]>();
  for (const [i, part] of parts.entries()) {
    const isWhole = part.lines === undefined && part.symbol === undefined;
    const key = isWhole ? `${i}` : `part ${part.file}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [part]);
    else group.push(part);
  }
  return [...groups.values()];
}
