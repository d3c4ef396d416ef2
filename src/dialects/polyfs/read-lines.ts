// Lines of a file that is read whole, or was and has not changed since.
import type { CallContext } from "../../contract/context.ts";
import { contentOf, sameVersion } from "../../engine/history/versions.ts";
import { sourceOf } from "../../engine/syntax/known-structures.ts";
import { structureOf } from "../../engine/syntax/structure.ts";
import type { OpenFile } from "../../engine/workspace/file.ts";
import { longestLine } from "./answer.ts";
import { changeOf, diffOf } from "./diff.ts";
import { readableText } from "./documents.ts";
import { isWhole, knownAnswer, noteFile, stateWorthKnowing } from "./known-files.ts";
import { LineParts } from "./line-parts.ts";
import type { PathPart } from "./parts.ts";
import type { ReadParams } from "./read-params.ts";
import { textRead } from "./recent-texts.ts";
import { structuresOf } from "./search-code.ts";
import { headLine } from "./text-file.ts";

export async function readLines(
  file: OpenFile,
  parts: readonly PathPart[],
  reading: ReadParams,
  { workspace, settings }: CallContext,
  room: number,
): Promise<string> {
  const state = stateWorthKnowing(file);
  if (state !== undefined) {
    const answer = await knownAnswer(workspace, file, state, parts, reading, room);
    if (answer !== undefined) return answer;
  }
  const bytes = file.whole() ?? (await file.bytes(settings.maxFileBytes));
  const reads = textRead(workspace, file, bytes, reading.encoding);
  const read = reads instanceof Promise ? await reads : reads; // waiting for what is there costs turns
  if (state !== undefined) noteFile(workspace, file, state, reading.encoding, read);
  const { text, as, version } = read;
  const past = () => ({ workspace, at: file.path });
  const structure = async () => {
    const found = await structureOf(text.path, text.body);
    const source = as === undefined ? sourceOf(file.given, version, text.body) : undefined;
    if (source !== undefined) structuresOf(workspace).keep(source, found);
    return found;
  };
  const { since } = reading;
  if (since !== undefined && sameVersion(since, version))
    return `${headLine(file.given, text, version, { as })}\nunchanged`; // the text need not be decoded
  const isAll = parts.every(isWhole);
  const how = `${reading.offset} ${reading.limit} ${reading.numbers} ${room}`;
  if (isAll && since === undefined && !reading.outline && read.shown.how === how) return read.shown.text;
  const total = read.index().count("terminated");
  const head = read.head();
  const size = text.bytes.length;
  const lined = { path: text.path, body: text.body, head, index: read.index(), total, size, structure };
  if (since === undefined || !isAll) {
    const keep = (page: string) => Object.assign(read.shown, { how, text: page });
    const content = new LineParts({ ...lined, keep }, reading, room);
    return await (isAll ? content.whole() : content.some(parts));
  }
  const old = await contentOf(past(), since);
  if (old === undefined) {
    const told = `${head}\n[${since} is no longer known; this is the whole file]`;
    return new LineParts({ ...lined, head: told }, reading, room).whole();
  }
  const like = reading.encoding ?? (as === undefined ? text.codec.name : undefined);
  const { text: before } = await readableText(file.given, old, like);
  const diff = await diffOf(await changeOf(before, text), room - head.length, longestLine);
  return `${head}\n${diff.text}`;
}
