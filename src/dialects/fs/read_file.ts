// `fs.read_file`: a window of a file by bytes or by lines.
import { isUtf8 } from "node:buffer";
import { text, tool } from "../../contract/tool.ts";
import { Fault } from "../../engine/fault.ts";
import { jsonText } from "../../engine/text/json-pieces.ts";
import type { OpenFile } from "../../engine/workspace/file.ts";
import { linesFrom } from "../../engine/workspace/lines.ts";

// The contract has no limit on a window; an answer needs one. `is_truncated` then says that the file continues.
const maxWindowBytes = 16 * 1024 * 1024;

export const readFile = tool({
  name: "read_file",
  title: "Read file",
  description:
    "Read a file, or a range of it by bytes or lines. Designed for safe, incremental reading of large files: " +
    "page with offset_bytes/max_bytes, or with start_line/max_lines.",
  input: {
    type: "object",
    properties: {
      path: { type: "string", description: 'File path relative to the server root, e.g. "src/main.rs".' },
      range_type: {
        type: "string",
        enum: ["bytes", "lines"],
        description: 'Default: "lines" if start_line or max_lines is set, otherwise "bytes".',
      },
      offset_bytes: {
        type: "integer",
        minimum: 0,
        description: "0-based byte offset (bytes mode). Default: 0.",
      },
      max_bytes: {
        type: "integer",
        minimum: 0,
        description: "Maximum bytes to read (bytes mode). Default: 65536.",
      },
      start_line: { type: "integer", description: "1-based first line (lines mode). Default: 1." },
      max_lines: {
        type: "integer",
        minimum: 0,
        description: "Maximum number of lines (lines mode). Default: 200.",
      },
    },
    required: ["path"],
  },
  effect: "reads",
  leaf: true,
  paths: ["path"],
  async run(params, call) {
    const byLines = params.start_line !== undefined || params.max_lines !== undefined;
    const byBytes = params.offset_bytes !== undefined || params.max_bytes !== undefined;
    const mode = params.range_type ?? (byLines ? "lines" : "bytes");
    if (mode === "bytes" && byLines)
      throw conflict("start_line/max_lines cannot be used with bytes range_type");
    if (mode === "lines" && byBytes)
      throw conflict("offset_bytes/max_bytes cannot be used with lines range_type");
    if (params.start_line !== undefined && params.start_line < 1) {
      throw new Fault("invalid_argument", { message: "start_line must be >= 1" });
    }
    using file = await call.workspace.openFile(call.workspace.at(params.path));
    const { content, more, range } =
      mode === "bytes"
        ? await byteWindow(file, params.offset_bytes ?? 0, params.max_bytes ?? 65_536)
        : await lineWindow(file, params.start_line ?? 1, params.max_lines ?? 200, call.signal);
    const { path } = params;
    return text(
      `{"path":${JSON.stringify(path)},"content":${jsonText(content)},"is_truncated":${more},"range":${JSON.stringify(range)}}`,
    );
  },
});

function conflict(reason: string): Fault {
  return new Fault("invalid_argument", { message: `invalid read_file arguments: ${reason}` });
}

async function byteWindow(file: OpenFile, offset: number, most: number) {
  const bytes = await file.read(offset, Math.min(most, maxWindowBytes));
  const more = offset + bytes.length < file.size;
  return {
    content: decode(withoutCutCharacters(bytes, offset > 0, more), file),
    more,
    range: { range_type: "bytes", offset_bytes: offset, max_bytes: most, start_line: null, max_lines: null },
  };
}

async function lineWindow(file: OpenFile, start: number, count: number, signal: AbortSignal) {
  const window = await linesFrom(file, start, count, { maxBytes: maxWindowBytes, signal });
  const lines = window.lines.map(line => `${decode(line.bytes, file)}\n`);
  return {
    content: lines.join(""),
    more: window.more,
    range: { range_type: "lines", offset_bytes: null, max_bytes: null, start_line: start, max_lines: count },
  };
}

function decode(bytes: Buffer, file: OpenFile): string {
  if (!isUtf8(bytes)) throw new Fault("not_text", { path: file.given, encoding: "UTF-8" });
  return bytes.toString("utf8");
}

/** Drops incomplete characters at both ends of the window. */
function withoutCutCharacters(bytes: Buffer, before: boolean, behind: boolean): Buffer {
  let from = 0;
  let to = bytes.length;
  if (before) while (from < 3 && from < to && isContinuation(bytes[from])) from++;
  if (behind) {
    let lead = to - 1;
    while (lead >= from && to - lead < 4 && isContinuation(bytes[lead])) lead--;
    if (lead >= from && lengthByLead(bytes[lead]) > to - lead) to = lead;
  }
  return bytes.subarray(from, to);
}

function isContinuation(byte = 0): boolean {
  return (byte & 0xc0) === 0x80;
}

function lengthByLead(byte = 0): number {
  return byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
}
