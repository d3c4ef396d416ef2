// Confirms that lines which a child process reported are in a file that we opened ourselves. ripgrep opens by path,
// and a path can be swapped for a link while it runs; nothing it read through one may be returned. A file that is not
// UTF-8 with `\n` or CRLF is decoded here (readable.ts), and its text searched instead of its bytes.

import { isAscii } from "node:buffer";
import type { Directory } from "../workspace/directory.ts";
import type { OpenFile } from "../workspace/file.ts";
import { isEscaped } from "../workspace/name.ts";
import type { HitBlock } from "./first-blocks.ts";
import type { FileHits, GrepOptions, GrepReport, TextHits } from "./grep-terms.ts";
import { isWide, mayNeedReading, readable } from "./readable.ts";
import type { Reopener } from "./reopen.ts";
import { fileHits, hitsOf, matching } from "./result-form.ts";
import type { Query } from "./ripgrep.ts";
import type { GrepLine } from "./ripgrep-output.ts";
import { mostTexts, searchTexts } from "./search-text.ts";
import { noteUndecoded } from "./undecoded.ts";
import type { Widened } from "./widen.ts";
import type { WorkSlice } from "./work-slice.ts";

const smallBytes = 4 * 1024 * 1024;
/** Larger files are treated as UTF-8, and not searched again as a whole. */
const mostDecoded = 64 * 1024 * 1024;
const headBytes = 64 * 1024;
const lineFeed = Buffer.from("\n");

export interface Confirming {
  readonly start: Directory;
  readonly query: Query;
  /** The wider expression that ripgrep was given, which lines may match wrongly. */
  readonly widened: Widened | undefined;
  readonly options: GrepOptions;
  readonly slice: WorkSlice;
}

/** A file whose lines were confirmed, or whose text has to be searched. */
type Confirmable =
  | FileHits
  | { readonly path: string; readonly text: Buffer; readonly toHits: (hits: TextHits) => FileHits };

/** Those of the reported files that are what ripgrep took them for, until the limit is reached. */
export async function* confirmed(
  confirming: Confirming,
  blocks: readonly HitBlock[],
  reopener: Reopener,
  report: GrepReport,
): AsyncGenerator<FileHits, void, undefined> {
  const { options, slice } = confirming;
  const { form = "lines", limit = Number.POSITIVE_INFINITY } = options;
  let hits = 0;
  let waiting: Confirmable[] = [];
  let size = 0;
  const settle = async function* () {
    const settled = await searched(confirming, waiting, report);
    [waiting, size] = [[], 0];
    for (const file of settled) {
      if (hits >= limit) report.stopped ??= "limit";
      if (hits >= limit) return;
      const count = file.count ?? 1;
      hits += hitsOf(count, options);
      // Of one file, ripgrep looks for no more lines than are enough.
      if (form === "lines" && count >= limit) report.stopped ??= "limit";
      yield file;
    }
  };
  for (const block of blocks) {
    if (slice.isDue) await slice.rest();
    if (hits >= limit) {
      report.stopped ??= "limit";
      return;
    }
    using file = reopener.open(block.bytes);
    const candidate = file && (await candidateOf(confirming, block, file));
    if (candidate === undefined) continue;
    waiting.push(candidate);
    if ("text" in candidate) size += candidate.text.length;
    // What needs no search of its own is not remainder waiting, unless something before it does.
    if (size > 0 && size < smallBytes && waiting.length < mostTexts) continue;
    yield* settle();
  }
  yield* settle();
}

async function candidateOf(
  { widened, options, slice }: Confirming,
  { path, bytes: raw, lines, proof, count, isForeign }: HitBlock,
  file: OpenFile,
): Promise<Confirmable | undefined> {
  const { binary, reading } = options;
  if ((isForeign && file.size > mostDecoded) || (await binary?.(file))) return undefined;
  const named = (found: FileHits): FileHits => (isEscaped(path) ? { ...found, raw } : found);
  const whole = file.whole();
  const toHits = ({ lines: found, count: all }: TextHits): FileHits =>
    named(fileHits(path, whole, found, all, options));
  const claims = claimed(lines, proof);
  const isSmall = file.size <= smallBytes;
  const bytes = isSmall ? await file.read(0, file.size) : undefined;
  const isUnclear =
    isForeign ||
    options.perMatch ||
    file.isMasked ||
    (widened !== undefined && !(widened.isExactOnAscii && claims.every(isPlain)));
  const isHuge = file.size > mostDecoded && !file.isMasked;
  if (!isHuge) {
    const head = bytes ?? file.readNow(0, headBytes);
    if (isUnclear || mayNeedReading(head, reading, { isWhole: bytes !== undefined })) {
      const all = bytes ?? (await file.bytes(mostDecoded));
      const text = (await readable(all, reading)) ?? (isUnclear ? all : undefined);
      if (text !== undefined) return { path, text, toHits };
    }
  }
  const isThere = bytes === undefined ? await streamHolds(file, claims, slice) : holdsAll(bytes, claims);
  const isSure = !isHuge || !isUnclear || options.perMatch || proof !== undefined;
  if (isThere && isSure) return named(fileHits(path, whole, lines, count, options));
  if (isThere) return { path, text: joined(claims), toHits: found => toHits(among(lines, found)) };
  // The file changed: its current content decides.
  return bytes && { path, text: bytes, toHits };
}

/** Lines as a text, one line for each. */
function joined(lines: readonly Buffer[]): Buffer {
  return Buffer.concat(lines.flatMap(line => [line, lineFeed]));
}

/** The lines of a file without those that did not match when their joined text was searched. */
function among(lines: readonly GrepLine[], { lines: found }: TextHits): TextHits {
  const columns = new Map(found.map(({ number, column }) => [number - 1, column]));
  const kept = lines.flatMap((line, i) => {
    if (line.column === undefined) return [line];
    const column = columns.get(i);
    return column === undefined ? [] : [{ ...line, column }];
  });
  return { lines: kept, count: matching(kept) };
}

/** The candidates in their order, without those whose text does not match after all. */
async function searched(
  { start, query, options, slice }: Confirming,
  candidates: readonly Confirmable[],
  report: GrepReport,
): Promise<FileHits[]> {
  const texts = candidates.flatMap(candidate => ("text" in candidate ? [candidate.text] : []));
  const limits = options.timeoutMs === undefined ? options : { ...options, timeoutMs: slice.left };
  const found = texts.length === 0 ? [] : await searchTexts(start, query, texts, limits);
  if (found.includes(undefined)) report.stopped ??= slice.isOver ? "time" : "killed";
  let next = 0;
  return candidates.flatMap(candidate => {
    if (!("text" in candidate)) return [candidate];
    const hits = found[next++];
    if (hits !== undefined && hits.count > 0) return [candidate.toHits(hits)];
    noteUndecoded(report, query, candidate.path, candidate.text, options);
    return [];
  });
}

/** Whether a line is ASCII without zero bytes, so that none of it can be UTF-16. */
function isPlain(line: Buffer): boolean {
  return isAscii(line) && !line.includes(0);
}

/** The lines that ripgrep reported. */
function claimed(lines: readonly GrepLine[], proof: Buffer | undefined): Buffer[] {
  if (proof === undefined) return lines.map(({ bytes }) => bytes);
  const claims: Buffer[] = [];
  for (let at = 0; at < proof.length; ) {
    const end = proof.indexOf(10, at);
    claims.push(proof.subarray(at, end));
    at = end + 1;
  }
  return claims;
}

/** Whether a large file holds all lines, which come in file order. Reads it once, and searches each byte once. */
async function streamHolds(file: OpenFile, lines: readonly Buffer[], slice: WorkSlice): Promise<boolean> {
  const text = asUtf8(file.readNow(0, 2));
  let next = 0;
  let remainder: Buffer = Buffer.alloc(0);
  for (let start = 0; start < file.size && next < lines.length; start += smallBytes) {
    const piece = text(await file.read(start, smallBytes), start + smallBytes >= file.size);
    const whole = remainder.length === 0 ? piece : Buffer.concat([remainder, piece]);
    let at = 0;
    for (let line = lines[next]; line !== undefined; line = lines[++next]) {
      if (slice.isDue) await slice.rest();
      const found = whole.indexOf(line, at);
      if (found < 0) break;
      at = found + line.length;
    }
    // The next line may begin in this piece and end in the next one.
    const overlap = Math.max(0, (lines[next]?.length ?? 0) - 1);
    remainder = whole.subarray(Math.max(at, whole.length - overlap));
  }
  return next >= lines.length;
}

/** Lines come in file order, so each is searched for after the previous one. */
function holdsAll(bytes: Buffer, lines: readonly Buffer[]): boolean {
  let at = 0;
  for (const line of lines) {
    at = bytes.indexOf(line, at);
    if (at < 0) return false;
    at += line.length;
  }
  return true;
}

/** UTF-16 with its mark reaches us as UTF-8: how a file that begins like this is turned into that, piece by piece. */
function asUtf8(start: Buffer): (piece: Buffer, isLast: boolean) => Buffer {
  if (!isWide(start)) return piece => piece;
  const decoder = new TextDecoder(start[0] === 0xff ? "utf-16le" : "utf-16be");
  return (piece, isLast) => Buffer.from(decoder.decode(piece, { stream: !isLast }));
}
