// What an answer says about syntax that a change has broken. It never refuses: agents write files in several steps.

import { printable } from "../../contract/wording.ts";
import { append } from "../../engine/append.ts";
import { languageOf, mayHaveLanguage } from "../../engine/syntax/language.ts";
import { newErrors } from "../../engine/syntax/new-errors.ts";
import { isTooLong, maxParsedBytes } from "../../engine/syntax/parse.ts";
import { isNoText } from "../../engine/text/detect.ts";
import { decode, type Text } from "../../engine/text/text.ts";
import { counted, shownLine } from "./answer.ts";
import { decoding } from "./text-file.ts";

/** More errors of one file are rarely more faults. */
const mostPerFile = 3;
/** Further files are not parsed, and answers say so. */
const mostFiles = 50;

export interface EditedText {
  readonly path: string;
  /** Undefined for a new file. */
  readonly before: Pick<Text, "body" | "bytes"> | undefined;
  readonly after: Pick<Text, "body" | "bytes">;
}

/** Lines for an answer about one file. */
export async function syntaxNotes({ path, before, after }: EditedText, named = ""): Promise<string[]> {
  if (!mayHaveLanguage(path)) return [];
  // In this order: a body is decoded when it is asked for.
  if ([before, after].some(one => one !== undefined && (isTooLarge(one.bytes) || isTooLong(one.body))))
    return languageOf(path, after.bytes.subarray(0, 1000).toString("latin1")) === undefined
      ? []
      : [`[syntax${named && ` of ${named.slice(0, -1)}`} not checked: too large to parse]`];
  const errors = await newErrors(path, before?.body, after.body).catch(() => []); // the change is made anyway
  const lines = errors.slice(0, mostPerFile).map(({ line, column, text, missing }) => {
    const what = missing === undefined ? "" : ` (missing \`${printable(missing)}\`)`;
    return `new syntax error at ${named}${line}:${column}${what}: ${shownLine(text.trim()).slice(0, 200)}`;
  });
  const left = errors.length - lines.length;
  return left > 0 ? [...lines, `[${counted(left, "more syntax error")}${named && ` in ${named}`}]`] : lines;
}

/** A file before and after a change, as bytes. Without `after` it is gone, and parses. */
export interface ChangedBytes {
  readonly path: string;
  readonly before: Uint8Array | undefined;
  readonly after: Uint8Array | undefined;
}

/** Lines for an answer about several files. */
export async function syntaxNotesOf(files: readonly ChangedBytes[]): Promise<string[]> {
  const lines: string[] = [];
  for (const { path, before, after } of files.slice(0, mostFiles)) {
    if (!mayHaveLanguage(path) || isTooLarge(before) || isTooLarge(after)) continue; // not decoded to say so
    const [old, made] = [await textIn(path, before), await textIn(path, after)];
    if (made === undefined || (before !== undefined && old === undefined)) continue;
    const named = files.length > 1 ? `${printable(path)}:` : "";
    append(lines, await syntaxNotes({ path, before: old, after: made }, named));
  }
  const left = files.length - mostFiles;
  return left > 0 ? [...lines, `[syntax of ${counted(left, "more file")} not checked]`] : lines;
}

/** Whether bytes are not parsed: then they need not be decoded. */
function isTooLarge(bytes: Uint8Array | undefined): boolean {
  return bytes !== undefined && bytes.length > maxParsedBytes;
}

async function textIn(path: string, bytes: Uint8Array | undefined): Promise<Text | undefined> {
  if (bytes === undefined) return undefined;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return isNoText(buffer) ? undefined : await decode(path, buffer, decoding);
}
