// `read_file`: a text file, or some of its lines.
import { text, tool } from "../../contract/tool.ts";
import { Fault } from "../../engine/fault.ts";
import { readContent } from "../../engine/workspace/content.ts";
import { AnswerRoom } from "./answer-room.ts";
import { output } from "./output.ts";
import { pathOf } from "./paths.ts";
import {
  choiceOf,
  contentProperties,
  looksBinary,
  note,
  readingProperties,
  structuredContent,
  withNote,
} from "./reading.ts";

const { encoding, maxSize, head, tail, lineStart, lineEnd } = readingProperties;

export const readFile = tool({
  name: "read_file",
  title: "Read file",
  description:
    "Read a single text file with optional line selection. Preview large files with head=50 before full reads; " +
    "for 2 or more files use read_multiple_files. head/tail cannot be combined with lineStart/lineEnd.",
  input: {
    type: "object",
    properties: {
      path: { type: "string", description: "File path." },
      encoding,
      maxSize,
      skipBinary: { type: "boolean", default: true, description: "Reject binary files." },
      head,
      tail,
      lineStart,
      lineEnd,
    },
    required: ["path"],
  },
  output: output({ path: { type: "string" }, ...contentProperties }),
  effect: "reads",
  leaf: true,
  paths: ["path"],
  async run(params, call) {
    const choice = choiceOf(params, params.path);
    using file = await call.workspace.openFile(pathOf(params.path, call));
    if (params.skipBinary && looksBinary(file)) throw new Fault("binary", { path: params.path });
    const content = await readContent(file, choice, {
      encoding: params.encoding,
      maxBytes: params.maxSize,
      get signal() {
        return call.signal;
      },
    });
    new AnswerRoom().take(content.text, params.path);
    return text(withNote(content.text, note(choice, content, params.maxSize)), {
      ok: true,
      path: params.path,
      ...structuredContent(content),
    });
  },
});
