// `read_file`: a page of numbered lines, from a line on or from the end.
import { text, tool } from "../../contract/tool.ts";
import { Fault } from "../../engine/fault.ts";
import { LineIndex } from "../../engine/text/lines.ts";
import { pathAt } from "./names.ts";
import { cut, numbered, shownLine } from "./output.ts";
import { readText } from "./text-file.ts";

export const readFile = tool({
  name: "read_file",
  title: "Read file",
  description:
    "Read a text file (UTF-8, or UTF-16 with a byte-order mark). Each line is prefixed with its number and a tab; " +
    "leave both out when you pass text to the editing tools. Returns up to `limit` lines and says how to continue.",
  input: {
    type: "object",
    properties: {
      path: { type: "string", description: "File to read, relative to the workspace or absolute." },
      offset: {
        type: "integer",
        default: 1,
        description: "1-based line to start at. Negative counts from the end: -20 reads the last 20 lines.",
      },
      limit: { type: "integer", minimum: 1, default: 2000, description: "Maximum lines to return." },
    },
    required: ["path"],
    additionalProperties: false,
  },
  effect: "reads",
  leaf: true,
  paths: ["path"],
  async run({ path, offset, limit }, call) {
    if (offset === 0) {
      throw new Fault("invalid_argument", {
        message: "offset must not be 0: lines count from 1, and negative offsets from the end",
      });
    }
    const { maxFileBytes, maxOutputBytes } = call.settings;
    const at = pathAt(call, path);
    const { body } = await readText(call, at, maxFileBytes);
    const index = new LineIndex(body);
    const total = index.count("terminated");
    if (total === 0 && offset <= 1) return text("(empty file)");
    if (offset > total) throw new Fault("past_end", { path: at.given, line: offset, lines: total });
    const first = offset < 0 ? Math.max(1, total + 1 + offset) : offset;
    const last = Math.min(total, first + limit - 1);
    const characters = index.start(last + 1) - index.start(first);
    // No counting if it fits in any case.
    const roomy = mostBytesOfUnit * characters + besideLine * (last - first + 2) < maxOutputBytes;
    const blocks: string[] = [];
    let next = first;
    for (let room = maxOutputBytes, isFull = false; next <= last && !isFull; ) {
      const to = Math.min(last, next + perBlock - 1);
      const lines = body.slice(index.start(next), index.end(to)).split("\n");
      for (let i = 0; i < lines.length; i++) lines[i] = numbered(next + i) + shownLine(lines[i] ?? "");
      const most = roomy ? lines.length : fitting(lines, room, { first, next, total });
      isFull = most < lines.length;
      if (most === 0) break;
      const block = (isFull ? lines.slice(0, most) : lines).join("\n");
      if (!roomy) room -= Buffer.byteLength(block) + 1;
      blocks.push(block);
      next += most;
    }
    const page = blocks.join("\n");
    const more = next <= total ? `\n${footer(next - first, total, next)}` : "";
    if (next > first + 1 || Buffer.byteLength(page + more) <= maxOutputBytes) return text(page + more);
    // A single line exceeds the limit; the answer still says how to continue.
    return text(cut(page, maxOutputBytes - Buffer.byteLength(more)) + more);
  },
});

const perBlock = 2000; // lines that are in memory one by one
const mostBytesOfUnit = 3; // of UTF-8, for a unit of UTF-16
const besideLine = 100; // a number, a note that the line was cut, or the footer

/** How many of these lines fit with the footer; the first line of the page always does. */
function fitting(
  lines: readonly string[],
  room: number,
  { first, next, total }: { readonly first: number; readonly next: number; readonly total: number },
): number {
  let bytes = 0;
  for (const [i, line] of lines.entries()) {
    const at = next + i;
    bytes += Buffer.byteLength(line);
    const left = at === total ? 0 : Buffer.byteLength(footer(at + 1 - first, total, at + 1)) + 1;
    if (bytes + left > room && at > first) return i;
    bytes += 1;
  }
  return lines.length;
}

function footer(shown: number, total: number, next: number): string {
  return `[... ${shown} of ${total} lines shown; continue with offset=${next} ...]`;
}
