// The bytes of a file as text: rows of base64 or hexadecimal. `offset` and `limit` count rows as they count lines.
import { printable } from "../../contract/wording.ts";
import { Fault } from "../../engine/fault.ts";
import { humanSize } from "../../engine/text/size.ts";
import type { OpenFile } from "../../engine/workspace/file.ts";
import { AnswerLines, number } from "./answer.ts";
import type { ReadParams } from "./read-params.ts";

type ByteEncoding = "base64" | "hex";

/** Bytes on a row. Rows of base64 put together are the base64 of all their bytes. */
const width = { base64: 57, hex: 32 } as const;

export function isByteEncoding(encoding: string | undefined): encoding is ByteEncoding {
  return encoding === "base64" || encoding === "hex";
}

export async function byteRows(
  file: OpenFile,
  encoding: ByteEncoding,
  { offset, limit }: ReadParams,
  room: number,
): Promise<string> {
  const bytesPerRow = width[encoding];
  const total = Math.ceil(file.size / bytesPerRow);
  if (offset > Math.max(1, total))
    throw new Fault("past_end", { path: file.given, line: offset, lines: total });
  const first = offset < 0 ? Math.max(1, total + 1 + offset) : offset;
  const start = (first - 1) * bytesPerRow;
  const bytes = await file.read(start, Math.min(limit * bytesPerRow, room));
  const lines = new AnswerLines(room - 150);
  lines.note(`${printable(file.given)} · ${humanSize(file.size)} · ${encoding}`);
  let at = 0;
  for (; at < bytes.length; at += bytesPerRow) {
    const row = bytes.subarray(at, at + bytesPerRow);
    // A row that was cut by the room that is left belongs to the next page.
    if (row.length < bytesPerRow && start + at + row.length < file.size) break;
    if (!lines.add(row.toString(encoding))) break;
  }
  const end = Math.min(file.size, start + at);
  const rest = end < file.size ? `; go on with offset=${first + at / bytesPerRow}` : "";
  if (start > 0 || rest !== "")
    lines.note(`[bytes ${number(start)}-${number(end)} of ${number(file.size)}${rest}]`);
  return lines.toString();
}
