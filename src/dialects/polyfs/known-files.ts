// What is known about large files that were read whole: version, head line, number of lines. As long as a file is in
// the same state, a page of it is read alone, and the file is neither read nor hashed again. The text itself is not
// kept.
import { rememberAgain, sameVersion } from "../../engine/history/versions.ts";
import { languageOf } from "../../engine/syntax/language.ts";
import { structureOf } from "../../engine/syntax/structure.ts";
import { utf8 } from "../../engine/text/codec.ts";
import { LineIndex } from "../../engine/text/lines.ts";
import { versionOf } from "../../engine/text/version.ts";
import type { OpenFile } from "../../engine/workspace/file.ts";
import { stateOf } from "../../engine/workspace/file-state.ts";
import type { LineWindow, RawLine } from "../../engine/workspace/line-window.ts";
import { linesFrom } from "../../engine/workspace/lines.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import { firstLine, LineParts, lastLine } from "./line-parts.ts";
import type { PathPart } from "./parts.ts";
import type { ReadParams } from "./read-params.ts";
import { mostTextBytes, type ReadText } from "./recent-texts.ts";

const mostKnown = 64;
/** A line with more bytes may be cut in the answer by its characters, which are not counted here. */
const mostLineBytes = 8000;
/** A line is shown with a quarter of its bytes at least, so a page with more bytes than this has no room for its end. */
const pageBytes = (room: number) => 4 * room + mostLineBytes;

interface KnownText {
  readonly given: string;
  readonly encoding: string | undefined;
  readonly state: string;
  readonly hash: string;
  readonly head: string;
  readonly total: number;
  /** Bytes of a byte-order mark. */
  readonly skip: number;
  readonly isCode: boolean;
}

/** By path, the one that was read last comes last. */
const known = new WeakMap<Workspace, Map<string, KnownText>>();

/** The state of a file that is worth knowing: a large one, on a disk that shows every change. */
export function stateWorthKnowing(file: OpenFile): string | undefined {
  return file.size > mostTextBytes && !file.isMasked && file.keepsTimes ? stateOf(file) : undefined;
}

/** Notes what was read from a file that was in this state before, if it still is. */
export function noteFile(
  workspace: Workspace,
  file: OpenFile,
  state: string,
  encoding: string | undefined,
  { text, as, hash, index, head }: ReadText,
): void {
  // Line breaks and characters have to be found without the text before them.
  if (as !== undefined || text.codec !== utf8 || text.breaks === "cr" || !text.raw.isWellFormed()) return;
  if (stateOf(file) !== state) return;
  const files = known.get(workspace) ?? new Map<string, KnownText>();
  known.set(workspace, files);
  files.delete(file.path);
  files.set(file.path, {
    given: file.given,
    encoding,
    state,
    hash,
    head: head(),
    total: index().count("terminated"),
    skip: text.mark ? utf8.mark.length : 0,
    isCode: languageOf(text.path, text.body) !== undefined,
  });
  for (const oldest of files.keys()) {
    if (files.size <= mostKnown) return;
    files.delete(oldest);
  }
}

/** The answer about a file that is known in this state; undefined if that takes its whole text. */
export async function knownAnswer(
  workspace: Workspace,
  file: OpenFile,
  state: string,
  parts: readonly PathPart[],
  reading: ReadParams,
  room: number,
): Promise<string | undefined> {
  const about = known.get(workspace)?.get(file.path);
  if (about?.state !== state || about.given !== file.given || about.encoding !== reading.encoding)
    return undefined;
  const { hash, head, total, skip } = about;
  const { since } = reading;
  const isSame = since !== undefined && sameVersion(since, versionOf(hash));
  const lines = linesWanted(parts, reading, about);
  if (!isSame && (since !== undefined || lines === undefined)) return undefined;
  if (!rememberAgain(workspace, file.path, file.size, hash)) return undefined;
  if (isSame) return `${head}\nunchanged`;
  const { from, to } = lines ?? { from: 1, to: 0 };
  const limits = { skip, maxLineBytes: mostLineBytes, maxBytes: pageBytes(room) };
  const window = from > to ? nothing : await linesFrom(file, from, to - from + 1, limits);
  if (window.lines.some(({ left }) => left > 0) || (window.full && parts.length > 1)) return undefined;
  if (stateOf(file) !== state) return undefined;
  const body = textOfLines(window.lines);
  const text = {
    path: file.given,
    head,
    body,
    index: new PageIndex(body, from),
    total,
    size: file.size,
    structure: () => structureOf(file.given, body),
  };
  const content = new LineParts(text, reading, room);
  return await (parts.every(isWhole) ? content.whole() : content.some(parts));
}

/** Whether a part is the whole file. */
export function isWhole({ lines, symbol }: PathPart): boolean {
  return lines === undefined && symbol === undefined;
}

/** The first and the last line that parts need; undefined if they need the structure of the text. */
function linesWanted(
  parts: readonly PathPart[],
  { offset, limit, outline }: ReadParams,
  { total, isCode }: KnownText,
): { from: number; to: number } | undefined {
  if (outline || parts.some(({ symbol }) => symbol !== undefined)) return undefined;
  if (parts.every(isWhole)) {
    if (isCode && offset === 1) return undefined; // the page may begin with the outline
    const from = firstLine(offset, total);
    return { from, to: Math.min(total, from + limit - 1) };
  }
  const ranges = parts.map(({ lines: { from, to } = { from: 1, to: total } }) => ({ from, to }));
  const inside = ranges.filter(({ from, to }) => from >= 1 && from <= total && from <= to);
  return {
    from: Math.min(...inside.map(({ from }) => from), total + 1),
    to: Math.min(total, Math.max(...inside.map(({ from, to }) => lastLine(from, to, limit)))),
  };
}

/** Lines as the body of a text. */
function textOfLines(lines: readonly RawLine[]): string {
  const pieces = lines.flatMap(({ bytes, end }) => [bytes, end === "" ? noBreak : lineBreak]);
  return Buffer.concat(pieces).toString("utf8");
}

const nothing: Pick<LineWindow, "lines" | "full"> = { lines: [], full: false };
const lineBreak = Buffer.from("\n");
const noBreak = Buffer.alloc(0);

/** Where lines are in a page that begins with line `first`. */
class PageIndex {
  readonly #lines: LineIndex;
  readonly #before: number;

  constructor(page: string, first: number) {
    this.#lines = new LineIndex(page);
    this.#before = first - 1;
  }

  start(line: number): number {
    return this.#lines.start(line - this.#before);
  }

  end(line: number): number {
    return this.#lines.end(line - this.#before);
  }

  get longest(): number {
    return this.#lines.longest;
  }
}
