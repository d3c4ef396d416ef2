// `read_file`: files or parts of them, as numbered lines, outlines, media, bytes in base64 or hexadecimal, or as
// what changed since a version.

import type { CallContext } from "../../contract/context.ts";
import type { Content } from "../../contract/tool.ts";
import { printable } from "../../contract/wording.ts";
import { append } from "../../engine/append.ts";
import { Fault } from "../../engine/fault.ts";
import type { OpenFile } from "../../engine/workspace/file.ts";
import { answerBytes, counted, sizeHint } from "./answer.ts";
import { refused, toldInline } from "./failure.ts";
import { lastLine } from "./line-parts.ts";
import { isMedia, mediaOf } from "./media.ts";
import { confirmedRange, grouped, linesInLink, type PathPart, partOf } from "./parts.ts";
import { confirmOnePathOrMore, pathAt, withNearest } from "./paths.ts";
import { polyfsTool } from "./polyfs-tool.ts";
import { byteRows, isByteEncoding } from "./read-bytes.ts";
import { largeLines } from "./read-large.ts";
import { readLines } from "./read-lines.ts";
import { input, type ReadParams } from "./read-params.ts";

export const readFile = polyfsTool({
  name: "read_file",
  title: "Read file",
  description: "Read text (`12: text`), notebooks, PDF, images, audio. The head line has the version.",
  input,
  effect: "reads",
  leaf: true,
  meta: sizeHint,
  paths: ["path", "paths"],
  fileOf: (path, call) => partOf(path, call).file,
  async run({ path, paths, ...reading }, call) {
    if (reading.offset === 0) throw refused("offset is 0", "Lines count from 1; -1 is the last line.");
    confirmOnePathOrMore(path, paths);
    const room = answerBytes(call.settings);
    if (path !== undefined) return { content: await read([partOf(path, call)], reading, call, room) };
    return readAll(paths ?? [], reading, call, room);
  },
});

async function readAll(paths: readonly string[], reading: ReadParams, call: CallContext, room: number) {
  const content: Content[] = [];
  const left: string[] = [];
  let failed = 0;
  let free = room;
  const groups = grouped(paths.map(path => partOf(path, call)));
  for (const parts of groups) {
    if (free < room / 50) {
      append(
        left,
        parts.map(part => part.written),
      );
      continue;
    }
    try {
      const items = await read(parts, reading, call, free);
      append(content, items);
      for (const item of items) free -= item.type === "text" ? Buffer.byteLength(item.text) : 0;
    } catch (error) {
      call.failedInPart?.(error);
      const told = toldInline(await withNearest(error, call));
      content.push({
        type: "text",
        text: `${parts.map(part => printable(part.written)).join(", ")}\n${told}`,
      });
      free -= told.length;
      failed++;
    }
  }
  if (left.length > 0)
    content.push({
      type: "text",
      text: `[no room for ${counted(left.length, "more file")}; read on with paths=${JSON.stringify(left)}]`,
    });
  return { content: joined(content), ...(failed === groups.length && failed > 0 && { isError: true }) };
}

/** Texts that follow each other as one item, with an empty line between the files. */
function joined(content: readonly Content[]): Content[] {
  const items: Content[] = [];
  for (const item of content) {
    const last = items.at(-1);
    if (item.type === "text" && last?.type === "text")
      items[items.length - 1] = { type: "text", text: `${last.text}\n\n${item.text}` };
    else items.push(item);
  }
  return items;
}

/** Some parts of one file. */
async function read(
  parts: readonly PathPart[],
  reading: ReadParams,
  call: CallContext,
  room: number,
): Promise<Content[]> {
  const path = pathAt(call, parts[0]?.file ?? "");
  using file = await call.workspace.openFile(path);
  const { encoding } = reading;
  if (encoding === undefined && isMedia(file)) return await mediaOf(file, call);
  return [{ type: "text", text: await readText(file, parts, reading, call, room) }];
}

function readText(
  file: OpenFile,
  parts: readonly PathPart[],
  reading: ReadParams,
  call: CallContext,
  room: number,
): Promise<string> {
  const { encoding } = reading;
  if (isByteEncoding(encoding)) return byteRows(file, encoding, reading, room);
  if (file.size > call.settings.maxFileBytes) return largeParts(file, parts, reading, call, room);
  return readLines(file, parts, reading, call, room);
}

/** A file that is too large to parse can still be read by lines. */
async function largeParts(
  file: OpenFile,
  parts: readonly PathPart[],
  reading: ReadParams,
  call: CallContext,
  room: number,
): Promise<string> {
  const texts: string[] = [];
  for (const part of parts) {
    try {
      texts.push(await largePart(file, part, reading, call, room / parts.length));
    } catch (error) {
      if (parts.length === 1) throw error;
      texts.push(toldInline(error));
    }
  }
  return texts.join("\n");
}

async function largePart(
  file: OpenFile,
  { lines: named, symbol }: PathPart,
  reading: ReadParams,
  call: CallContext,
  room: number,
): Promise<string> {
  const lines = named ?? (symbol === undefined ? undefined : linesInLink(symbol));
  if ((symbol !== undefined && lines === undefined) || reading.outline)
    throw new Fault("too_large", { path: file.given, size: file.size, limit: call.settings.maxFileBytes });
  if (lines === undefined) return largeLines(file, reading, call, room);
  const { from, to } = confirmedRange(lines);
  const limit = lastLine(from, to, reading.limit) - from + 1;
  return largeLines(file, { ...reading, offset: from, limit }, call, room);
}
