// What counts as text in this contract: no NUL in the first or last 8,000 bytes, or UTF-16 that says so by its
// byte-order mark. UTF-16 is read; editing it is refused.
import type { CallContext } from "../../contract/context.ts";
import { Fault } from "../../engine/fault.ts";
import type { BinaryTest } from "../../engine/search/binary.ts";
import { isBinary } from "../../engine/text/detect.ts";
import { decode, type Text } from "../../engine/text/text.ts";
import type { OpenFile } from "../../engine/workspace/file.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";

const sample = 8000;

/** Opens a file, and reads it whole. */
export async function readText(
  { workspace }: Pick<CallContext, "workspace">,
  path: WorkspacePath,
  limit: number,
): Promise<Text> {
  using file = await workspace.openFile(path);
  return textOf(path.given, await file.bytes(limit));
}

function textOf(path: string, bytes: Buffer): Promise<Text> {
  if (isBinary(bytes, { first: sample, last: sample })) throw new Fault("binary", { path });
  // Without a mark it is UTF-8; invalid bytes survive an edit.
  return decode(path, bytes, isMarkedUtf16(bytes) ? {} : { encoding: "utf-8" });
}

/** The same for a file to edit. */
export function editableTextOf(path: string, bytes: Buffer): Promise<Text> {
  if (isMarkedUtf16(bytes)) throw new Fault("not_text", { path, encoding: "UTF-8" });
  return textOf(path, bytes);
}

/** Files that a search leaves out. */
export const binary: BinaryTest = (file: OpenFile) => {
  const head = file.readNow(0, sample);
  if (isMarkedUtf16(head)) return false;
  if (head.includes(0)) return true;
  return file.size > sample && file.readNow(Math.max(0, file.size - sample), sample).includes(0);
};

function isMarkedUtf16(bytes: Buffer): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
}
