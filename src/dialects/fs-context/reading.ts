// Shared by `read_file` and `read_multiple_files`: encodings, limits, line selection, and the binary check.
import { Fault } from "../../engine/fault.ts";
import { isBinaryName } from "../../engine/text/binary-name.ts";
import { isBinary } from "../../engine/text/detect.ts";
import type { FileContent, LineChoice } from "../../engine/workspace/content.ts";
import type { OpenFile } from "../../engine/workspace/file.ts";

const megabyte = 1024 * 1024;

export const readingProperties = {
  encoding: {
    type: "string",
    enum: ["utf-8", "ascii", "base64", "hex", "latin1"],
    default: "utf-8",
    description: "With utf-8, a byte-order mark of UTF-16 is obeyed.",
  },
  maxSize: {
    type: "integer",
    minimum: 1,
    maximum: 100 * megabyte,
    default: 10 * megabyte,
    description: "Size limit in bytes for each file (default 10 MB, up to 100 MB).",
  },
  head: { type: "integer", minimum: 1, maximum: 100_000, description: "First N lines." },
  tail: { type: "integer", minimum: 1, maximum: 100_000, description: "Last N lines." },
  lineStart: {
    type: "integer",
    minimum: 1,
    description: "Start line (1-indexed). Give lineEnd too.",
  },
  lineEnd: { type: "integer", minimum: 1, description: "End line (inclusive). Give lineStart too." },
} as const;

export const contentProperties = {
  content: { type: "string" },
  truncated: { type: "boolean", description: "Whether the file has more than this." },
  totalLines: { type: "integer", description: "Where the whole file was read as text." },
} as const;

export const totalSizeProperty = {
  type: "integer",
  minimum: 1,
  maximum: 1024 * megabyte,
  default: 100 * megabyte,
  description: "Total size limit across files, in bytes (default 100 MB, up to 1 GB).",
} as const;

interface LineParams {
  readonly head?: number;
  readonly tail?: number;
  readonly lineStart?: number;
  readonly lineEnd?: number;
}

/** `path` is for the refusal, if there is one file. */
export function choiceOf({ head, tail, lineStart, lineEnd }: LineParams, path?: string): LineChoice {
  const refuse = (message: string): never => {
    throw new Fault("invalid_argument", path === undefined ? { message } : { message, path });
  };
  const ends = head !== undefined || tail !== undefined;
  if (ends && (lineStart !== undefined || lineEnd !== undefined))
    refuse("head/tail cannot be combined with lineStart/lineEnd");
  if (head !== undefined && tail !== undefined) refuse("head and tail cannot be combined");
  if (head !== undefined) return { of: "first", count: head };
  if (tail !== undefined) return { of: "last", count: tail };
  if (lineStart === undefined && lineEnd === undefined) return { of: "all" };
  if (lineStart === undefined || lineEnd === undefined)
    return refuse("lineStart and lineEnd must be given together");
  if (lineEnd < lineStart) refuse("lineEnd must not be less than lineStart");
  return { of: "range", start: lineStart, end: lineEnd };
}

/** A known extension, or a NUL in the first 512 bytes; UTF-16 with its mark is text. */
export function looksBinary(file: OpenFile): boolean {
  return isBinaryName(file.path) || isBinary(file.readNow(0, 512), { first: 512 });
}

export function structuredContent({ text, more, lines }: FileContent) {
  return { content: text, truncated: more, ...(lines !== undefined && { totalLines: lines }) };
}

/** A note after the content: which part it is. */
export function note(choice: LineChoice, { text, more, cut, lines }: FileContent, maxSize: number): string {
  const cutNote = cut ? ` (cut at maxSize, ${maxSize} bytes)` : more ? "" : " (the whole file)";
  switch (choice.of) {
    case "all":
      return lines === undefined ? "" : `Total lines: ${lines}`;
    case "first":
      return `Showing first ${choice.count} lines${cutNote}`;
    case "last":
      return `Showing last ${choice.count} lines${cutNote}`;
    case "range":
      return text === "" && !cut
        ? `Showing lines ${choice.start}-${choice.end}: nothing there`
        : `Showing lines ${choice.start}-${choice.end}${cutNote}`;
  }
}

export function withNote(content: string, said: string): string {
  if (said === "" || content === "") return content + said;
  return `${content}${content.endsWith("\n") ? "" : "\n"}\n${said}`;
}
