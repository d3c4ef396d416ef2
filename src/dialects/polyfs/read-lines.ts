// A page of the lines of a file that is read whole: all but the largest.
import type { CallContext } from "../../contract/context.ts";
import { Fault } from "../../engine/fault.ts";
import { contentOf, remember, sameVersion } from "../../engine/history/versions.ts";
import { LineIndex } from "../../engine/text/lines.ts";
import type { Text } from "../../engine/text/text.ts";
import type { OpenFile } from "../../engine/workspace/file.ts";
import { Lines, shownLine } from "./answer.ts";
import { changeOf, diffOf } from "./diff.ts";
import type { Reading } from "./read_file.ts";
import { headLine, textOf } from "./text-file.ts";

/** What the line that says how to go on may need. */
const footing = 100;

export async function readLines(
  file: OpenFile,
  reading: Reading,
  { workspace, settings }: CallContext,
  room: number,
): Promise<string> {
  const bytes = await file.bytes(settings.maxFileBytes);
  const text = await textOf(file.given, bytes, reading.encoding);
  const past = () => ({ archive: workspace.archive, at: file.path });
  const version = remember(past, bytes);
  const head = headLine(file.given, text, version);
  const { since } = reading;
  if (since === undefined) return page(head, text, reading, room);
  if (sameVersion(since, version)) return `${head}\nunchanged`;
  const old = await contentOf(past(), since);
  if (old === undefined)
    return page(`${head}\n[${since} is not known any more; this is the file]`, text, reading, room);
  const before = await textOf(file.given, old, reading.encoding ?? text.codec.name);
  return `${head}\n${diffOf(changeOf(before, text), room - head.length)}`;
}

function page(head: string, { path, body }: Text, { offset, limit, numbers }: Reading, room: number): string {
  const index = new LineIndex(body);
  const total = index.count("terminated");
  if (offset > Math.max(1, total)) throw new Fault("past_end", { path, line: offset, lines: total });
  const first = offset < 0 ? Math.max(1, total + 1 + offset) : offset;
  const last = Math.min(total, first + limit - 1);
  const lines = new Lines(room - footing);
  lines.note(head);
  let next = first;
  for (; next <= last; next++) {
    const line = shownLine(body.slice(index.start(next), index.end(next)));
    if (!lines.add(numbers ? `${next}: ${line}` : line)) break;
  }
  if (next <= total || first > 1) lines.note(footer(first, next - 1, total));
  return lines.toString();
}

function footer(first: number, last: number, total: number): string {
  const shown = `[lines ${first}-${last} of ${total}`;
  return last < total ? `${shown}; go on with offset=${last + 1}]` : `${shown}]`;
}
