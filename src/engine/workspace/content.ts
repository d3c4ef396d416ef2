// The content of a file, or of some of its lines, as a string: in a text encoding, or as bytes in base64 or
// hexadecimal. Reads and keeps only what is asked for: the first lines from the start, the last ones from the end,
// always within a limit in bytes.
import { isMarkedUtf32 } from "../text/detect.ts";
import { countLines } from "../text/lines.ts";
import type { OpenFile } from "./file.ts";
import type { LineOptions, LineWindow, RawLine } from "./line-window.ts";
import { linesFrom } from "./lines.ts";
import { type Tail, tailOf } from "./tail.ts";

export type ContentEncoding = "utf-8" | "ascii" | "latin1" | "base64" | "hex";

/** Which lines: all, the first or last N, or a range that counts from 1 and includes its end. */
export type LineChoice =
  | { readonly of: "all" }
  | { readonly of: "first"; readonly count: number }
  | { readonly of: "last"; readonly count: number }
  | { readonly of: "range"; readonly start: number; readonly end: number };

export interface ContentOptions {
  readonly encoding: ContentEncoding;
  /** A whole file over it is refused (`too_large`); a part of one is cut. */
  readonly maxBytes: number;
  /** Asked for only where lines are looked for, which may take long. */
  readonly signal?: AbortSignal | undefined;
}

export interface FileContent {
  readonly text: string;
  /** How many bytes of the file are in `text`. */
  readonly bytes: number;
  /** Whether the file has more than this. */
  readonly more: boolean;
  /** Whether the limit on bytes, not the choice of lines, ended it. */
  readonly cut: boolean;
  /** How many lines the file has, where all of it was read as text: what is between line breaks, "a\n" has two. */
  readonly lines?: number;
}

/** With `utf-8`, a byte-order mark decides about UTF-16, and is itself left out. Faults: `too_large`. */
export async function readContent(
  file: OpenFile,
  choice: LineChoice,
  options: ContentOptions,
): Promise<FileContent> {
  const form = formOf(file, options.encoding);
  if (choice.of === "all") {
    const bytes = await file.bytes(options.maxBytes);
    const text = form.decode(bytes.subarray(form.skip ?? 0));
    return {
      text,
      bytes: bytes.length,
      more: false,
      cut: false,
      ...(form.isText && { lines: countLines(text, "split") }),
    };
  }
  const maxBytes = form.wide === undefined ? options.maxBytes : Math.max(2, options.maxBytes & ~1);
  const lineOptions: LineOptions = {
    maxBytes,
    skip: form.skip,
    encoding: form.wide,
    get signal() {
      return options.signal;
    },
  };
  if (choice.of !== "last")
    return partOf(joined(await linesFrom(file, ...rangeOf(choice), lineOptions), form), form);
  const tail = await tailOf(file, choice.count, lineOptions);
  return partOf({ ...tail, count: tail.ends.length }, form);
}

function rangeOf(choice: Exclude<LineChoice, { of: "all" | "last" }>): [start: number, count: number] {
  return choice.of === "range" ? [choice.start, choice.end - choice.start + 1] : [1, choice.count];
}

/** Lines with their endings. */
interface LinesPart extends Omit<Tail, "ends"> {
  readonly count: number;
}

function joined({ lines, ...where }: LineWindow, form: ContentForm): LinesPart {
  const bytes = Buffer.concat(lines.flatMap(line => [line.bytes, form.breaks[line.end]]));
  const full = where.full || lines.some(line => line.left > 0);
  return { ...where, bytes, end: lines.at(-1)?.end ?? "", count: lines.length, full };
}

/** The end of the last line is left out. */
function partOf(
  { bytes: all, end, count, first, more, full: cut }: LinesPart,
  form: ContentForm,
): FileContent {
  const bytes = all.subarray(0, all.length - form.breaks[end].length);
  const decoded = form.decode(bytes);
  const whole = first === 1 && !more && !cut;
  return {
    text: cut ? decoded.replace(/^\ufffd+|\ufffd+$/g, "") : decoded, // a character may be cut in two
    bytes: bytes.length,
    more: !whole,
    cut,
    ...(whole && form.isText && { lines: Math.max(1, count + (end === "" ? 0 : 1)) }),
  };
}

interface ContentForm {
  readonly isText: boolean;
  readonly wide?: LineOptions["encoding"];
  /** Bytes of a mark to leave out. */
  readonly skip?: number;
  readonly breaks: Readonly<Record<RawLine["end"], Buffer>>;
  decode(bytes: Buffer): string;
}

function formOf(file: OpenFile, encoding: ContentEncoding): ContentForm {
  const breaks = { "\n": Buffer.from("\n"), "\r\n": Buffer.from("\r\n"), "": Buffer.alloc(0) };
  const plain = { isText: true, breaks };
  switch (encoding) {
    case "base64":
    case "hex":
      return { ...plain, isText: false, decode: bytes => bytes.toString(encoding) };
    case "latin1":
      return { ...plain, decode: bytes => bytes.toString("latin1") };
    case "ascii":
      return { ...plain, decode: bytes => bytes.toString("latin1").replace(/[\x80-\xff]/g, "\ufffd") };
    case "utf-8":
  }
  const head = file.readNow(0, 4);
  if (isMarkedUtf32(head)) return { ...plain, decode: utf8 }; // its little-endian mark begins like that of UTF-16
  const [a, b, c] = head;
  if (a === 0xef && b === 0xbb && c === 0xbf) return { ...plain, skip: 3, decode: utf8 };
  const wide = a === 0xff && b === 0xfe ? "utf-16le" : a === 0xfe && b === 0xff ? "utf-16be" : undefined;
  if (wide === undefined) return { ...plain, decode: utf8 };
  const decode = (bytes: Buffer) => (wide === "utf-16le" ? bytes : swapped(bytes)).toString("utf16le");
  const encode = (text: string) =>
    wide === "utf-16le" ? Buffer.from(text, "utf16le") : swapped(Buffer.from(text, "utf16le"));
  const wideBreaks = { "\n": encode("\n"), "\r\n": encode("\r\n"), "": breaks[""] };
  return { isText: true, wide, skip: 2, breaks: wideBreaks, decode: bytes => decode(bytes).toWellFormed() };
}

function utf8(bytes: Buffer): string {
  return bytes.toString("utf8");
}

function swapped(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(0, bytes.length & ~1)).swap16();
}
