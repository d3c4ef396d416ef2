// `read_multiple_files`: many files at a time, each with its content or its own error. A few are read at the same
// time; their sizes are counted in the order of the paths, so that the total holds and is the same each time.
import type { CallContext } from "../../contract/context.ts";
import { text, tool } from "../../contract/tool.ts";
import { Fault } from "../../engine/fault.ts";
import { inOrder } from "../../engine/workspace/ahead.ts";
import { type ContentEncoding, type FileContent, readContent } from "../../engine/workspace/content.ts";
import { AnswerRoom } from "./answer-room.ts";
import { batchSummarySchema, output, results as resultsSchema } from "./output.ts";
import { pathOf, pathsProperty } from "./paths.ts";
import {
  choiceOf,
  contentProperties,
  looksBinary,
  note,
  readingProperties,
  structuredContent,
  totalSizeProperty,
  withNote,
} from "./reading.ts";
import { type Failure, failureOf } from "./wording.ts";

const mostAtATime = 8;
const bytesAtATime = 64 * 1024 * 1024;

const { encoding, maxSize, head, tail, lineStart, lineEnd } = readingProperties;

export const readMultipleFiles = tool({
  name: "read_multiple_files",
  title: "Read multiple files",
  description:
    "Read multiple files in parallel. Each file reports success or error. Preferred for 2 or more files. " +
    "head/tail cannot be combined with lineStart/lineEnd.",
  input: {
    type: "object",
    properties: {
      paths: { ...pathsProperty, description: "File paths (max 100)." },
      encoding,
      maxSize,
      maxTotalSize: totalSizeProperty,
      head,
      tail,
      lineStart,
      lineEnd,
    },
    required: ["paths"],
  },
  output: output({ results: resultsSchema(contentProperties), summary: batchSummarySchema }),
  effect: "reads",
  leaf: true,
  paths: ["paths"],
  async run(params, call) {
    const choice = choiceOf(params);
    const room = new AnswerRoom();
    const parts: string[] = [];
    const results: Record<string, unknown>[] = [];
    let total = 0;
    let succeeded = 0;
    const left = () => params.maxTotalSize - total;
    const read = async (path: string) => {
      try {
        return await readOne(path, left, choice, params, call);
      } catch (error) {
        call.failedInPart?.(error);
        if (error instanceof Fault && error.code !== "cancelled") return failureOf(error);
        throw error;
      }
    };
    const atATime = Math.min(mostAtATime, Math.max(1, Math.floor(bytesAtATime / params.maxSize)));
    for await (const outcome of inOrder(params.paths, atATime, read)) {
      const path = params.paths[results.length] as string;
      const failure = "code" in outcome ? outcome : unfit(path, outcome, left(), params.maxTotalSize, room);
      if (failure !== undefined || "code" in outcome) {
        parts.push(`=== ${path} ===\n[Error: ${failure?.message}]`);
        results.push({ path, ok: false, error: failure });
        continue;
      }
      total += outcome.bytes;
      succeeded++;
      const said = choice.of === "all" ? "" : note(choice, outcome, params.maxSize);
      parts.push(`=== ${path} ===\n${withNote(outcome.text, said)}`.replace(/\n$/, ""));
      results.push({ path, ok: true, ...structuredContent(outcome) });
    }
    const summary = {
      total: results.length,
      succeeded,
      failed: results.length - succeeded,
      totalSize: total,
    };
    return text(parts.join("\n\n"), { ok: true, results, summary });
  },
});

async function readOne(
  path: string,
  left: () => number,
  choice: ReturnType<typeof choiceOf>,
  params: { readonly encoding: ContentEncoding; readonly maxSize: number; readonly maxTotalSize: number },
  call: CallContext,
): Promise<FileContent | Failure> {
  using file = await call.workspace.openFile(pathOf(path, call));
  const asText = params.encoding !== "base64" && params.encoding !== "hex";
  if (asText && looksBinary(file)) throw new Fault("binary", { path });
  // Others may still take more of the total, never less: what does not fit now need not be read.
  if (choice.of === "all" && file.size <= params.maxSize && file.size > left())
    return overTotal(path, file.size, params.maxTotalSize);
  const { encoding, maxSize } = params;
  return await readContent(file, choice, {
    encoding,
    maxBytes: maxSize,
    get signal() {
      return call.signal;
    },
  });
}

function unfit(
  path: string,
  content: FileContent,
  left: number,
  max: number,
  room: AnswerRoom,
): Failure | undefined {
  if (content.bytes > left) return overTotal(path, content.bytes, max);
  try {
    room.take(content.text, path);
    return undefined;
  } catch (error) {
    if (error instanceof Fault) return failureOf(error);
    throw error;
  }
}

function overTotal(path: string, size: number, max: number): Failure {
  return {
    code: "E_TOO_LARGE",
    message: `Skipped: ${size} bytes would exceed maxTotalSize (${max} bytes)`,
    path,
    suggestion: "Read it in another call, use `head/tail`, or increase `maxTotalSize`",
  };
}
