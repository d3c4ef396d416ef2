// Images and audio, as items that a client can show. A file that is too large is refused before it is read.
import type { CallContext } from "../../contract/context.ts";
import type { Content } from "../../contract/tool.ts";
import { printable } from "../../contract/wording.ts";
import { remember } from "../../engine/history/versions.ts";
import { mimeType } from "../../engine/text/mime.ts";
import { humanSize } from "../../engine/text/size.ts";
import type { OpenFile } from "../../engine/workspace/file.ts";

/** Models take pictures of up to 5 MB, and base64 is a third longer. */
const maxBytes = 3_750_000;

/** What clients can show. A drawing as SVG is text. */
const shownTypes = /^(image\/(png|jpeg|gif|webp|avif|bmp)|audio\/.+)$/;

export function isMedia({ path }: OpenFile): boolean {
  const type = mimeType(path);
  return type !== undefined && !type.startsWith("text/") && shownTypes.test(type);
}

export async function mediaOf(file: OpenFile, { workspace }: CallContext): Promise<Content[]> {
  const type = mimeType(file.path) ?? "";
  const bytes = await file.bytes(maxBytes);
  const version = remember(workspace, file.path, bytes);
  const head = [printable(file.given), type, humanSize(bytes.length), version].join(" · ");
  const kind = type.startsWith("audio/") ? "audio" : "image";
  return [
    { type: "text", text: head },
    { type: kind, data: bytes.toString("base64"), mimeType: type },
  ];
}
