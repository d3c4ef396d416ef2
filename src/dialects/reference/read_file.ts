// `read_text_file`, and the same under its old name `read_file`.
import { Fault } from "../../engine/fault.ts";
import { pathAt } from "./paths.ts";
import { readHead, readTail, readWhole } from "./reading.ts";
import { textTool } from "./reference-tool.ts";

const reader = (name: string, title: string, description: string) =>
  textTool({
    name,
    title,
    description,
    input: {
      type: "object",
      properties: {
        path: { type: "string" },
        tail: { type: "number", description: "Return only the last N lines." },
        head: { type: "number", description: "Return only the first N lines." },
      },
      required: ["path"],
    },
    effect: "reads",
    leaf: true,
    paths: ["path"],
    call: "read",
    async run({ path: given, head = 0, tail = 0 }, call) {
      const path = pathAt(given, call);
      if (head !== 0 && tail !== 0) {
        const message = "Cannot specify both head and tail parameters simultaneously";
        throw new Fault("invalid_argument", { message });
      }
      using file = await call.workspace.openFile(path);
      if (tail !== 0) return await readTail(file, Math.floor(tail), call);
      if (head !== 0) return await readHead(file, Math.ceil(head), call);
      return await readWhole(file, call.settings.maxFileBytes);
    },
  });

export const readFile = reader(
  "read_file",
  "Read file (deprecated)",
  "The old name of read_text_file; use that instead.",
);

export const readTextFile = reader(
  "read_text_file",
  "Read text file",
  "Read a file as text, whatever its extension: all of it, or with head or tail only its first or last N lines, " +
    "which is fast in files of any size. Detects the encoding. The path must be within the allowed directories.",
);
