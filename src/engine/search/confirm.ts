// Proof that lines which a child process reported stand in a file that we opened ourselves. Ripgrep opens by
// path, and a path can be swapped for a link while it runs; nothing it read through one may be passed on.
import type { OpenFile } from "../workspace/file.ts";
import { isEscaped } from "../workspace/name.ts";
import { given } from "./give.ts";
import type { FileHits, GrepOptions, GrepReport } from "./grep-terms.ts";
import type { GrepLine } from "./hits.ts";
import type { Block } from "./kept.ts";
import { isWide } from "./lines-with.ts";
import type { Pace } from "./pace.ts";
import type { Trail } from "./trail.ts";

const smallBytes = 4 * 1024 * 1024;

/** Those of the reported files that are what ripgrep took them for, until the limit is reached. */
export async function* confirmed(
  blocks: readonly Block[],
  trail: Trail,
  options: GrepOptions,
  report: GrepReport,
  pace: Pace,
): AsyncGenerator<FileHits, void, undefined> {
  const { binary, give = "lines", limit = Number.POSITIVE_INFINITY } = options;
  let hits = 0;
  for (const { path, bytes, lines, proof, count, hits: more } of blocks) {
    if (pace.isDue) await pace.rest();
    if (hits >= limit) {
      report.stopped ??= "limit";
      return;
    }
    using file = trail.open(bytes);
    if (file === undefined || (await binary?.(file)) || !(await confirms(file, claimed(lines, proof))))
      continue;
    hits += more;
    // Of one file, ripgrep looks for no more lines than are enough.
    if (give === "lines" && count >= limit) report.stopped ??= "limit";
    const found = given(path, file, lines, count, options);
    yield isEscaped(path) ? { ...found, raw: bytes } : found;
  }
}

/** What is said to stand in the file. */
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

/** Whether every line stands in the file. */
async function confirms(file: OpenFile, lines: readonly Buffer[]): Promise<boolean> {
  if (file.size <= smallBytes) {
    const bytes = await file.read(0, file.size);
    return holdsAll(asUtf8(bytes)(bytes), lines);
  }
  const text = asUtf8(file.readNow(0, 2));
  const missing = new Set(lines.filter(line => line.length > 0));
  const longest = lines.reduce((most, { length }) => Math.max(most, length), 0);
  let kept = Buffer.alloc(0);
  for (let at = 0; at < file.size; at += smallBytes) {
    const piece = text(await file.read(at, smallBytes));
    const whole = Buffer.concat([kept, piece]);
    for (const line of missing) if (whole.includes(line)) missing.delete(line);
    if (missing.size === 0) return true;
    kept = whole.subarray(Math.max(0, whole.length - longest));
  }
  return missing.size === 0;
}

/** Lines come in the file's order, so each is looked for behind the one before. */
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
function asUtf8(start: Buffer): (piece: Buffer) => Buffer {
  if (!isWide(start)) return piece => piece;
  const decoder = new TextDecoder(start[0] === 0xff ? "utf-16le" : "utf-16be");
  return piece => Buffer.from(decoder.decode(piece, { stream: true }));
}
