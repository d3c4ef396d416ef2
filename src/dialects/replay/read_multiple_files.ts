// `read_multiple_files`: up to fifty files in one call. An error is reported in the place of its file.
import type { CallContext } from "../../contract/context.ts";
import { tool } from "../../contract/tool.ts";
import { Fault } from "../../engine/fault.ts";
import { nativeForm } from "../../engine/workspace/windows-path.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import { readable } from "./paths.ts";
import { isText } from "./read_file.ts";
import { maxAnswerBytes } from "./room.ts";
import { toldInline } from "./words.ts";

const maxFiles = 50;
const maxFileBytes = 10 * 1024 * 1024;

export const readMultipleFiles = tool({
  name: "read_multiple_files",
  title: "Read multiple files",
  description:
    "Read several files at once (at most 50, each up to 10 MB). One item per path, each beginning with the path; " +
    "a file that cannot be read has an error in its place. Globs are not expanded.",
  input: {
    type: "object",
    properties: {
      paths: {
        type: "array",
        items: { type: "string" },
        description: "Literal absolute file paths (max 50; globs are not expanded).",
      },
    },
    required: ["paths"],
  },
  // An entry that is not a path is answered in its place, too: the call never fails.
  accepts: { type: "object", properties: { paths: { type: "array" } }, required: ["paths"] },
  effect: "reads",
  leaf: true,
  paths: ["paths"],
  async run({ paths }, call) {
    let room = maxAnswerBytes;
    const items: string[] = [];
    const entries: readonly unknown[] = paths;
    for (const [i, given] of entries.entries()) {
      const item =
        typeof given !== "string"
          ? noPath(given)
          : i < maxFiles
            ? await read(call, given, room)
            : tooMany(given);
      room -= item.length;
      items.push(item);
    }
    return { content: items.map(item => ({ type: "text", text: item }) as const) };
  },
});

async function read(call: CallContext, given: string, room: number): Promise<string> {
  const { workspace } = call;
  try {
    using file = await workspace.openFile(workspace.at(given));
    const bytes = await file.bytes(maxFileBytes);
    const body = isText(bytes) ? bytes.toString("utf8") : `[binary, base64]\n${bytes.toString("base64")}`;
    if (body.length > room) throw new Fault("too_large", { path: file.path, size: body.length, limit: room });
    return `${nativeForm(file.path)}:\n${body}`;
  } catch (error) {
    call.failedInPart?.(error);
    return `${place(workspace, given)}:\n[error: ${toldInline(error).message}]`;
  }
}

/** The canonical path of the file, existing or not; as written if it is not allowed. */
function place(workspace: Workspace, given: string): string {
  try {
    return readable(workspace, given).at;
  } catch (error) {
    if (error instanceof Fault) return given;
    throw error;
  }
}

function noPath(given: unknown): string {
  return `${JSON.stringify(given).slice(0, 200)}:\n[error: a path must be a string]`;
}

function tooMany(given: string): string {
  return `${given}:\n[error: more than ${maxFiles} paths; read this one in another call]`;
}
