// `file_info`: the attributes of paths; for text also encoding, line endings, lines and version.

import type { CallContext } from "../../contract/context.ts";
import { text } from "../../contract/tool.ts";
import { printable } from "../../contract/wording.ts";
import { append } from "../../engine/append.ts";
import { Fault } from "../../engine/fault.ts";
import { remember } from "../../engine/history/versions.ts";
import { isMarkedUtf32, isNoText } from "../../engine/text/detect.ts";
import { endingsIn } from "../../engine/text/endings.ts";
import { countLines } from "../../engine/text/lines.ts";
import { mimeType } from "../../engine/text/mime.ts";
import { humanSize } from "../../engine/text/size.ts";
import type { Text } from "../../engine/text/text.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import { number } from "./answer.ts";
import { toldInline } from "./failure.ts";
import { permissions } from "./outline.ts";
import { confirmOnePathOrMore, pathAt, withNearest } from "./paths.ts";
import { polyfsTool } from "./polyfs-tool.ts";
import { textOf } from "./text-file.ts";

type Rows = [name: string, value: string][];

export const fileInfo = polyfsTool({
  name: "file_info",
  title: "File info",
  description: "Type, size, times, mode, MIME type, encoding, line endings, version.",
  input: {
    type: "object",
    properties: { path: { type: "string" }, paths: { type: "array", items: { type: "string" } } },
  },
  effect: "reads",
  leaf: true,
  paths: ["path", "paths"],
  async run({ path, paths }, call) {
    confirmOnePathOrMore(path, paths);
    if (path !== undefined) return text(await infoOf(path, call));
    const blocks: string[] = [];
    let failed = 0;
    for (const one of paths ?? []) {
      try {
        blocks.push(await infoOf(one, call));
      } catch (error) {
        blocks.push(`${printable(one)}\n${toldInline(await withNearest(error, call))}`);
        failed++;
      }
    }
    const answer = text(blocks.join("\n\n"));
    return failed > 0 && failed === blocks.length ? { ...answer, isError: true } : answer;
  },
});

async function infoOf(written: string, call: CallContext): Promise<string> {
  const { workspace } = call;
  const path = pathAt(call, written);
  const own = workspace.lstat(path);
  const rows: Rows = [];
  if (own.target !== undefined) rows.push(["link to", printable(own.target)]);
  const stat = workspace.stat(path);
  rows.unshift(["type", own.target === undefined ? stat.kind : `symlink to a ${stat.kind}`]);
  if (stat.kind === "file") rows.push(["size", `${humanSize(stat.size)} (${number(stat.size)} bytes)`]);
  rows.push(["modified", stat.modified.toISOString()], ["created", stat.created.toISOString()]);
  rows.push(["accessed", stat.accessed.toISOString()]);
  rows.push(["mode", `${stat.mode.toString(8).padStart(3, "0")} ${permissions(stat.mode)}`]);
  if (stat.kind === "file") append(rows, await contentRows(path, call));
  if (stat.kind === "file" && stat.links > 1) rows.push(["hard links", String(stat.links)]);
  rows.push(["writable", workspace.locate(path).root.access === "read-write" ? "yes" : "no"]);
  return [printable(path.given), ...rows.map(([name, value]) => `${name}: ${value}`)].join("\n");
}

async function contentRows(path: WorkspacePath, { workspace, settings }: CallContext): Promise<Rows> {
  using file = await workspace.openFile(path);
  const named = mimeType(file.path);
  try {
    const bytes = await file.bytes(settings.maxFileBytes);
    const version = remember(workspace, file.path, bytes);
    if (isNoText(bytes))
      return [
        ["mime", named ?? "application/octet-stream"],
        ["encoding", isMarkedUtf32(bytes) ? "utf-32 (not supported)" : "binary"],
        ["version", version],
      ];
    const content = await textOf(path.given, bytes);
    return [
      ["mime", named ?? "text/plain"],
      ["encoding", encodingOf(content)],
      ["line endings", endingsIn(content)],
      ["lines", number(countLines(content.body, "terminated"))],
      ["version", version],
    ];
  } catch (error) {
    if (!Fault.is(error, "too_large")) throw error;
    return [
      ["mime", named ?? "application/octet-stream"],
      ["version", "none: too large"],
    ];
  }
}

function encodingOf({ codec, mark, doubt, raw }: Text): string {
  if (doubt === undefined) return codec.name + (mark ? " with byte-order mark" : "");
  const shown = raw.isWellFormed() ? `${codec.name}, ` : "";
  return `${shown}not certain${doubt.length === 0 ? "" : ` (likely: ${doubt.join(", ")})`}`;
}
