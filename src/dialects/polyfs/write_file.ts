// `write_file`: writes a whole file, or appends to one.

import type { CallContext } from "../../contract/context.ts";
import { text } from "../../contract/tool.ts";
import type { MergeSide } from "../../engine/edit/merge.ts";
import { Fault } from "../../engine/fault.ts";
import { rebased } from "../../engine/history/versions.ts";
import { isAscii } from "../../engine/text/ascii.ts";
import { isNoText } from "../../engine/text/detect.ts";
import { endingsIn, likeBody } from "../../engine/text/endings.ts";
import { decode, encode, rewrite, rewriteRaw, type Text } from "../../engine/text/text.ts";
import { hashInTurns, version } from "../../engine/text/version.ts";
import type { Commit } from "../../engine/workspace/commit/change.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import { pathAt } from "./paths.ts";
import { polyfsTool } from "./polyfs-tool.ts";
import { syntaxNotes } from "./syntax-notes.ts";
import { decoding, headLine, refuseBinary } from "./text-file.ts";
import { mergedNote, notes, refuseNoVersion, writing } from "./writing.ts";

export const writeFile = polyfsTool({
  name: "write_file",
  title: "Write file",
  description: "Create, overwrite or append to a file; creates parents, keeps the encoding.",
  input: {
    type: "object",
    properties: {
      path: { type: "string" },
      content: { type: "string" },
      mode: { type: "string", enum: ["overwrite", "create", "append"], default: "overwrite" },
      encoding: { type: "string" },
      if_version: { type: "string", description: "The version you read; later changes are merged in." },
    },
    required: ["path", "content"],
  },
  effect: "writes",
  paths: ["path"],
  async run({ path, mode, ...wanted }, call) {
    refuseNoVersion(wanted.if_version);
    const at = pathAt(call, path);
    if (at.isRoot) throw new Fault("not_a_file", { path: at.given, kind: "directory" });
    const { commit, written, syntax, came = [], endings = [] } = await write[mode](at, wanted, call);
    const effect = commit.files[0]?.effect;
    const did = effect === "created" ? "created" : effect === "none" ? "unchanged" : past[mode];
    await hashInTurns(written.bytes);
    const lines = [`${did} ${headLine(at.given, written, version(written.bytes))}`];
    return text([...lines, ...came, ...endings, ...notes(commit, call), ...(await syntax)].join("\n"));
  },
});

const past = { create: "created", overwrite: "overwrote", append: "appended to" } as const;

interface WriteParams {
  readonly content: string;
  readonly encoding?: string;
  readonly if_version?: string;
}

interface Written {
  readonly commit: Commit;
  readonly written: Text;
  /** Notes about its syntax, which is checked while the file is written. */
  readonly syntax: Promise<string[]>;
  /** The note about changes since the version that the caller had read. */
  readonly came?: readonly string[];
  /** Notes about the ends of its lines. */
  readonly endings?: readonly string[];
}

const write = { create, overwrite, append };

async function create(
  path: WorkspacePath,
  { content, encoding }: WriteParams,
  call: CallContext,
): Promise<Written> {
  const bytes = await encode(path.given, content, { encoding });
  const written = await decode(path.given, bytes, { encoding });
  const syntax = syntaxNotes({ path: path.given, before: undefined, after: written });
  const commit = await call.workspace.commit(
    [{ kind: "write", path, bytes, expect: "absent" }],
    writing(call),
  );
  return { commit, written, syntax };
}

async function overwrite(path: WorkspacePath, wanted: WriteParams, call: CallContext): Promise<Written> {
  if (wanted.if_version !== undefined)
    return edited(path, wanted, call, async old => ({ text: await contentLike(old, wanted) }));
  try {
    return await replaced(path, wanted, call);
  } catch (error) {
    if (!Fault.is(error, "too_large") && !Fault.is(error, "changed_meanwhile")) throw error;
    return replacedUnread(path, wanted, call);
  }
}

/** Replaces the file that is read under its lock, so that its path is resolved and its content read once. */
async function replaced(path: WorkspacePath, wanted: WriteParams, call: CallContext): Promise<Written> {
  let result: Omit<Written, "commit"> | undefined;
  const maxBytes = Math.min(maxCompared, call.settings.maxFileBytes);
  const commit = await call.workspace.editAll(
    [path],
    async ([file]) => {
      result = await newText(
        path.given,
        wanted,
        file?.bytes && (await formIn(path.given, file.bytes, wanted)),
      );
      return [{ kind: "write", path, bytes: result.written.bytes }];
    },
    { ...writing(call), maxBytes },
  );
  if (result === undefined) throw new Fault("not_found", { path: path.given });
  return { commit, ...result };
}

/** Replaces a file that is too large to be compared, or that another program never stops changing. */
async function replacedUnread(path: WorkspacePath, wanted: WriteParams, call: CallContext): Promise<Written> {
  const made = await newText(path.given, wanted, await replacedText(path, wanted, call));
  const change = { kind: "write", path, bytes: made.written.bytes } as const;
  return { commit: await call.workspace.commit([change], writing(call)), ...made };
}

async function newText(path: string, wanted: WriteParams, { form, before }: Replaced = {}) {
  const written =
    form === undefined
      ? await decode(path, await encode(path, wanted.content, wanted), wanted)
      : await contentLike(form, wanted);
  return {
    written,
    syntax: syntaxNotes({ path, before, after: written }),
    endings: endingsNote(before, written),
  };
}

/** Whole contents have the endings that the caller sent. */
function endingsNote(before: Text | undefined, after: Text): string[] {
  const [were, are] = [before === undefined ? "none" : endingsIn(before), endingsIn(after)];
  if (were === are || were === "none" || are === "none") return [];
  return [`[the line endings were ${endingNames[were]}, and are ${endingNames[are]} now]`];
}

const endingNames = { lf: "LF", crlf: "CRLF", cr: "CR", mixed: "mixed" } as const;

async function append(path: WorkspacePath, wanted: WriteParams, call: CallContext): Promise<Written> {
  let isJoined = false;
  const done = await edited(path, wanted, call, async text => {
    const end = text.body.length;
    // Added lines take the file's line ending; a file without line breaks takes them as they are.
    const added = endingsIn(text) === "none" ? wanted.content : likeBody(text, wanted.content);
    isJoined = end > 0 && !/[\r\n]$/.test(text.body) && added !== "";
    const splice = { start: end, end, text: added, edits: [0] };
    return {
      text: rewrite(text, [splice]),
      edits: { splices: [splice], newLines: "neighbour", byLines: [0] },
    };
  });
  return isJoined ? { ...done, endings: [...(done.endings ?? []), joinedNote] } : done;
}

const joinedNote = "[the file had no final newline: the content continues its last line]";

/** Changes the existing content by `edit`; changes since the version that the caller read stay. */
async function edited(
  path: WorkspacePath,
  wanted: WriteParams,
  call: CallContext,
  edit: (text: Text) => Promise<MergeSide>,
): Promise<Written> {
  const { workspace } = call;
  const { encoding, if_version } = wanted;
  const { given } = path;
  let result: Omit<Written, "commit"> | undefined;
  const commit = await workspace.editAll(
    [path],
    async ([file]) => {
      const bytes = file?.bytes;
      if (bytes === undefined) {
        if (if_version !== undefined) throw new Fault("not_found", { path: given });
        const made = await encode(given, wanted.content, { encoding });
        const written = await decode(given, made, { encoding });
        result = { written, syntax: syntaxNotes({ path: given, before: undefined, after: written }) };
        return [{ kind: "write", path, bytes: made, expect: "absent" }];
      }
      refuseBinary(given, bytes, encoding);
      const options = { encoding, ...decoding };
      const done = await rebased(
        given,
        bytes,
        if_version,
        () => ({ workspace, at: workspace.locate(path).path }),
        edit,
        options,
      );
      const { text: after, current: before } = done;
      const syntax = syntaxNotes({ path: given, before, after });
      result = { written: after, syntax, came: mergedNote(done), endings: endingsNote(before, after) };
      return [{ kind: "write", path, bytes: after.bytes }];
    },
    { ...writing(call), maxBytes: call.settings.maxFileBytes },
  );
  if (result === undefined) throw new Fault("not_found", { path: given });
  return { commit, ...result };
}

/** New content in the existing file's form: its byte-order mark, and its encoding unless another is named. */
async function contentLike(old: Text, { content, encoding: named }: WriteParams): Promise<Text> {
  const { path, raw } = old;
  if (old.doubt !== undefined && named === undefined)
    return rewriteRaw(old, [{ start: 0, end: raw.length, text: content }]);
  const encoding = named ?? old.codec.name;
  const mark = old.mark || raw.startsWith("\ufeff");
  return decode(path, await encode(path, content, { encoding, mark }), { encoding });
}

/** What new content replaces. */
interface Replaced {
  /**
   * The text whose encoding and byte-order mark the new content takes over; undefined if there is no file, or it is not
   * text.
   */
  readonly form?: Text;
  /** The whole text, for a comparison; undefined if it is too large. */
  readonly before?: Text | undefined;
}

async function replacedText(
  path: WorkspacePath,
  { content }: WriteParams,
  call: CallContext,
): Promise<Replaced> {
  const { maxFileBytes } = call.settings;
  let bytes: Buffer;
  let isWhole = false;
  try {
    using file = await call.workspace.openFile(path);
    // Plain ASCII is the same in all encodings but UTF-16, which shows itself at once. A huge file is judged by its head.
    isWhole = file.size <= (isAscii(content) ? Math.min(maxCompared, maxFileBytes) : maxFileBytes);
    bytes = isWhole ? await file.bytes(maxFileBytes) : file.readNow(0, headBytes);
  } catch (error) {
    if (Fault.is(error, "not_found")) return {};
    throw error;
  }
  return formIn(path.given, bytes, { content }, isWhole);
}

async function formIn(
  path: string,
  bytes: Buffer,
  { content }: Pick<WriteParams, "content">,
  isWhole = true,
): Promise<Replaced> {
  const head = bytes.subarray(0, headBytes);
  if (isNoText(head)) return {};
  const before = isWhole && bytes.length <= maxCompared ? await textIn(path, bytes) : undefined;
  if (before !== undefined && bytes.length <= headBytes) return { form: before, before };
  const some = isAscii(content) || !isWhole ? head.subarray(0, head.lastIndexOf(10) + 1 || undefined) : bytes;
  return { form: await decode(path, head.includes(0) ? head : some, decoding), before };
}

async function textIn(path: string, bytes: Buffer): Promise<Text | undefined> {
  try {
    return isNoText(bytes) ? undefined : await decode(path, bytes, decoding);
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

const headBytes = 64 * 1024;
const maxCompared = 2_000_000;
