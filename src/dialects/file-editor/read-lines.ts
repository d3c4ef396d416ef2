// The lines of a file, all or a range of them. A file that is too large to be read whole is gone through up to the
// end of the range, and only the range is kept.
import { Blocks } from "../../contract/render/blocks.ts";
import { Fault } from "../../engine/fault.ts";
import { isBinary } from "../../engine/text/detect.ts";
import { shown } from "../../engine/text/escape.ts";
import type { OpenFile } from "../../engine/workspace/file.ts";
import { linesFrom } from "../../engine/workspace/lines.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import { sample, textOf } from "./text-file.ts";
import type { WorkspaceCall } from "./workspace-tool.ts";

/** Both ends included, from 1. */
export interface InclusiveLines {
  readonly start: number;
  readonly end: number;
}

/** The most characters of one answer. */
export const mostCharacters = 16 * 1024 * 1024;

/** Throws if `start-end` is not a range. */
export function rangeOf(written: string): InclusiveLines {
  const [start = 0, end = 0] = written.split("-").map(Number);
  const refuse = (why: string): never => {
    throw new Fault("invalid_argument", { message: `Invalid line range ${written}: ${why}` });
  };
  if (start < 1) refuse("lines count from 1");
  if (start > end) refuse("the start is greater than the end");
  return { start, end };
}

/** Every line with its number. */
export async function numberedLines(
  path: string,
  workspace: Workspace,
  call: WorkspaceCall,
  range?: InclusiveLines,
): Promise<{ readonly text: string; readonly count: number }> {
  using file = await workspace.openFile(workspace.at(path));
  const first = range?.start ?? 1;
  const lines =
    range !== undefined && file.size > call.settings.maxFileBytes
      ? await streamed(file, range, call)
      : await whole(file, range, call);
  const numbered = new Blocks();
  for (const [i, line] of lines.entries()) {
    numbered.add(`${i === 0 ? "" : "\n"}${first + i} | ${line}`);
    if (numbered.length >= mostCharacters) throw tooMuch(path);
  }
  return { text: shown(numbered.toString()), count: lines.length };
}

async function whole(
  file: OpenFile,
  range: InclusiveLines | undefined,
  { settings }: WorkspaceCall,
): Promise<string[]> {
  const { body } = await textOf(file.given, await file.bytes(settings.maxFileBytes));
  const lines = body.split("\n");
  if (range === undefined) return lines;
  if (range.start > lines.length) throw pastEnd(file, range, lines.length);
  return lines.slice(range.start - 1, range.end);
}

async function streamed(
  file: OpenFile,
  range: InclusiveLines,
  { settings, signal }: WorkspaceCall,
): Promise<string[]> {
  const head = file.readNow(0, sample);
  if (isBinary(head, { first: sample })) throw new Fault("binary", { path: file.given });
  // UTF-16 of this size is very rare.
  if (head[0] === 0xff || head[0] === 0xfe)
    throw new Fault("too_large", { path: file.given, size: file.size, limit: settings.maxFileBytes });
  const skip = head.subarray(0, 3).equals(mark) ? mark.length : 0;
  const wanted = range.end - range.start + 1;
  const window = await linesFrom(file, range.start, wanted, { maxBytes: mostCharacters, skip, signal });
  if (window.full) throw tooMuch(file.given);
  const lines = window.lines.map(line => line.bytes.toString("utf8"));
  if (window.total === undefined) return lines;
  // The piece after a final break is a line in this contract.
  const ended = file.readNow(file.size - 1, 1)[0] === 10;
  const total = window.total + (ended ? 1 : 0);
  if (range.start > total) throw pastEnd(file, range, total);
  return ended && range.end >= total ? [...lines, ""] : lines;
}

const mark = Buffer.from([0xef, 0xbb, 0xbf]);

function pastEnd(file: OpenFile, { start }: InclusiveLines, lines: number): Fault {
  return new Fault("past_end", { path: file.given, line: start, lines });
}

function tooMuch(path: string): Fault {
  const message = `Too much for one answer: ${path}. Read it in parts with line_range.`;
  return new Fault("invalid_argument", { message });
}
