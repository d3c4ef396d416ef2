// The patch envelope: `*** Begin Patch`, then files with hunks that carry no line numbers, only context.
import type { FilePatch, PatchHunk, PatchLine } from "./file-patch.ts";
import { filePatch, malformed } from "./file-patch.ts";

const begin = "*** Begin Patch";
const end = "*** End Patch";

export function isEnvelope(patch: string): boolean {
  return patch.trimStart().startsWith(begin);
}

export function parseEnvelope(patch: string): FilePatch[] {
  const reader = new EnvelopeReader(patch);
  const files: FilePatch[] = [];
  for (let line = reader.next(); line !== end; line = reader.next()) {
    if (line === undefined) malformed(reader.number, "envelope_end");
    if (line.trim() === "") continue;
    const header = /^\*\*\* (Add|Update|Delete) File: (.*\S)\s*$/.exec(line);
    const path = header?.[2];
    if (path === undefined) malformed(reader.number, "envelope_file");
    if (header?.[1] === "Add") files.push(addFile(reader, path));
    else if (header?.[1] === "Update") files.push(updateFile(reader, path));
    else files.push(filePatch({ kind: "delete", path, checkRemoved: false }, []));
  }
  for (let line = reader.next(); line !== undefined; line = reader.next()) {
    if (line.trim() !== "") malformed(reader.number, "after_envelope");
  }
  if (files.length === 0) malformed(1, "no_file");
  return files;
}

/** Lines of the patch one by one. A patch that came with "\r\n" is read as if it had "\n". */
class EnvelopeReader {
  number = 0;
  readonly #lines: readonly string[];

  constructor(patch: string) {
    const lines = patch.split("\n");
    const start = lines.findIndex(line => line.trim() === begin);
    const crlf = lines[start]?.endsWith("\r") ?? false;
    this.#lines = crlf ? lines.map(line => line.replace(/\r$/, "")) : lines;
    if (start < 0) malformed(1, "envelope_begin");
    this.number = start + 1;
  }

  get peek(): string | undefined {
    const line = this.#lines[this.number];
    return line?.startsWith("*** End Patch") && line.trim() === end ? end : line;
  }

  next(): string | undefined {
    const line = this.peek;
    this.number += 1;
    return line;
  }
}

function addFile(reader: EnvelopeReader, path: string): FilePatch {
  const lines: PatchLine[] = [];
  while (reader.peek?.startsWith("+"))
    lines.push({ sign: "+", text: (reader.next() ?? "").slice(1), end: true });
  const line = reader.peek;
  if (line !== undefined && line.trim() !== "" && !line.startsWith("*** ")) {
    malformed(reader.number + 1, "added_line");
  }
  const hunks = lines.length === 0 ? [] : [{ lines, anchors: [], atEnd: false }];
  return filePatch({ kind: "create", path, checkRemoved: false }, hunks);
}

function updateFile(reader: EnvelopeReader, path: string): FilePatch {
  const to = /^\*\*\* Move to: (.*\S)\s*$/.exec(reader.peek ?? "")?.[1];
  if (to !== undefined) reader.next();
  const hunks: PatchHunk[] = [];
  while (
    reader.peek !== undefined &&
    (reader.peek === "*** End of File" || !reader.peek.startsWith("*** "))
  ) {
    const hunk = readHunk(reader, hunks.length === 0);
    if (hunk === undefined) break;
    hunks.push(hunk);
  }
  if (to !== undefined) return filePatch({ kind: "rename", path, to, checkRemoved: false }, hunks);
  if (hunks.length === 0) malformed(reader.number, "file_without_change");
  return filePatch({ kind: "modify", path, checkRemoved: false }, hunks);
}

function readHunk(reader: EnvelopeReader, first: boolean): PatchHunk | undefined {
  const anchors: string[] = [];
  while (reader.peek?.startsWith("@@")) {
    const header = (reader.next() ?? "").slice(2).replace(/^ /, "");
    // The line numbers of a unified diff are ignored; the text after them is an ordinary anchor.
    const anchor = header.replace(/^-\d+(,\d+)? \+\d+(,\d+)?( @@ ?|$)/, "").replace(/ @@$/, "");
    if (anchor.trim() !== "") anchors.push(anchor);
  }
  const start = reader.number + 1;
  const lines: PatchLine[] = [];
  let atEnd = false;
  for (let line = reader.peek; line !== undefined; line = reader.peek) {
    if (line.startsWith("*** End of File")) atEnd = true;
    if (line.startsWith("@@") || line.startsWith("*** ")) break;
    const sign = line === "" ? " " : line[0];
    if (sign !== " " && sign !== "-" && sign !== "+") {
      malformed(reader.number + 1, "hunk_line");
    }
    lines.push({ sign, text: line.slice(1), end: true });
    reader.next();
  }
  if (atEnd) reader.next();
  else dropBlankEnd(lines, reader.peek);
  if (lines.length === 0 && anchors.length === 0 && first) return undefined;
  if (!lines.some(line => line.sign !== " ")) malformed(start, "hunk_without_change");
  return { lines, anchors, atEnd };
}

/** Empty lines between the last hunk and the next file are layout, not context. */
function dropBlankEnd(lines: PatchLine[], next: string | undefined): void {
  while (next?.startsWith("*** ") && lines.at(-1)?.sign === " " && lines.at(-1)?.text === "") lines.pop();
}
