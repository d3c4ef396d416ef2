// `read_multiple_files`: the contents of several files. An error is reported in the place of its file.
import type { CallContext } from "../../contract/context.ts";
import { Fault } from "../../engine/fault.ts";
import { pathAt } from "./paths.ts";
import { readWhole } from "./reading.ts";
import { textTool, told } from "./reference-tool.ts";

export const readMultipleFiles = textTool({
  name: "read_multiple_files",
  title: "Read multiple files",
  description:
    "Read several files as text in one call, each after its path. A file that cannot be read is reported with an " +
    "error in its place; the others are returned. All paths must be within the allowed directories.",
  input: {
    type: "object",
    properties: {
      paths: { type: "array", minItems: 1, items: { type: "string" }, description: "The files to read." },
    },
    required: ["paths"],
  },
  effect: "reads",
  leaf: true,
  paths: ["paths"],
  call: "read",
  async run({ paths }, call) {
    let room = call.settings.maxFileBytes;
    const items: string[] = [];
    for (const given of paths) {
      call.signal.throwIfAborted();
      const item = await read(given, room, call);
      room = Math.max(0, room - item.length);
      items.push(item);
    }
    return items.join("\n---\n");
  },
});

async function read(given: string, room: number, call: CallContext): Promise<string> {
  try {
    using file = await call.workspace.openFile(pathAt(given, call));
    return `${given}:\n${await readWhole(file, room)}\n`;
  } catch (error) {
    call.failedInPart?.(error);
    if (error instanceof Fault) return `${given}: Error - ${told(error, "read", call)}`;
    throw error;
  }
}
