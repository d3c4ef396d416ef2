// `read_media_file`: the bytes of a file, as an image or a sound where its name says so, else as a resource.
import { extname } from "node:path";
import { pathToFileURL } from "node:url";
import { type Content, tool } from "../../contract/tool.ts";
import { pathAt } from "./paths.ts";
import { telling } from "./reference-tool.ts";

/** What clients can be trusted to show. Anything else would be refused by some of them. */
const types: Readonly<Record<string, `${"image" | "audio"}/${string}`>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".bmp": "image/bmp",
  ".svg": "image/svg+xml",
  ".mp3": "audio/mpeg",
  ".wav": "audio/wav",
  ".ogg": "audio/ogg",
  ".flac": "audio/flac",
};

export const readMediaFile = tool({
  name: "read_media_file",
  title: "Read media file",
  description:
    "Read a file as base64 with its media type: images and audio as such, any other file as an embedded resource. The " +
    "path must be within the allowed directories.",
  input: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  output: {
    type: "object",
    properties: {
      content: {
        type: "array",
        items: {
          anyOf: [
            {
              type: "object",
              properties: {
                type: { type: "string", enum: ["image", "audio"] },
                data: { type: "string" },
                mimeType: { type: "string" },
              },
              required: ["type", "data", "mimeType"],
              additionalProperties: false,
            },
            {
              type: "object",
              properties: {
                type: { type: "string", const: "resource" },
                resource: {
                  type: "object",
                  properties: {
                    uri: { type: "string" },
                    mimeType: { type: "string" },
                    blob: { type: "string" },
                  },
                  required: ["uri", "blob"],
                  additionalProperties: false,
                },
              },
              required: ["type", "resource"],
              additionalProperties: false,
            },
          ],
        },
      },
    },
    required: ["content"],
    additionalProperties: false,
  },
  effect: "reads",
  leaf: true,
  paths: ["path"],
  run: ({ path }, call) =>
    telling("read", call, async () => {
      using file = await call.workspace.openFile(pathAt(path, call));
      const data = (await file.bytes(call.settings.maxFileBytes)).toString("base64");
      const content = [item(file.path, data)];
      return { content, structured: { content } };
    }),
});

function item(path: string, data: string): Content {
  const mimeType = types[extname(path).toLowerCase()];
  if (mimeType?.startsWith("image/")) return { type: "image", data, mimeType };
  if (mimeType !== undefined) return { type: "audio", data, mimeType };
  const uri = pathToFileURL(path).href;
  return { type: "resource", resource: { uri, mimeType: "application/octet-stream", blob: data } };
}
