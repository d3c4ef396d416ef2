// `read_file`: a whole file, as text or, if it is binary, as base64.
import { isUtf8 } from "node:buffer";
import { pathToFileURL } from "node:url";
import { type Content, text, tool } from "../../contract/tool.ts";
import { mimeType } from "../../engine/text/mime.ts";
import { maxAnswerBytes } from "./room.ts";

export const readFile = tool({
  name: "read_file",
  title: "Read file",
  description:
    "Read a whole file. Returns text (UTF-8) as it is, and a binary file as base64 with its media type.",
  input: {
    type: "object",
    properties: { path: { type: "string", description: "Absolute path to the file." } },
    required: ["path"],
  },
  effect: "reads",
  leaf: true,
  paths: ["path"],
  async run({ path: given }, { workspace, revision }) {
    using file = await workspace.openFile(workspace.at(given));
    const bytes = await file.bytes(maxAnswerBytes);
    return isText(bytes) ? text(bytes.toString("utf8")) : { content: [blob(bytes, file.path, revision)] };
  },
});

export function isText(bytes: Buffer): boolean {
  return isUtf8(bytes) && !bytes.includes(0);
}

/** The contract's `blob` item is not a content type of the protocol: newer clients refuse it, and get a resource. */
function blob(bytes: Buffer, path: string, revision: string): Content {
  const data = bytes.toString("base64");
  const type = mimeType(path) ?? "application/octet-stream";
  if (revision < "2025-06-18") return { type: "blob", data, mimeType: type };
  return { type: "resource", resource: { uri: pathToFileURL(path).href, mimeType: type, blob: data } };
}
