// `search_text`: lines that match, grouped by file; or the files, or how many lines match in each.
import { isAscii } from "node:buffer";
import type { CallContext } from "../../contract/context.ts";
import { nameBelow } from "../../contract/render/paths.ts";
import { text } from "../../contract/tool.ts";
import { printable } from "../../contract/wording.ts";
import { Fault } from "../../engine/fault.ts";
import { grep } from "../../engine/search/grep.ts";
import type { FileHits } from "../../engine/search/grep-terms.ts";
import { withAnyBreak } from "../../engine/search/line-breaks.ts";
import { isUncertain } from "../../engine/search/readable.ts";
import { isNoText, isPdf } from "../../engine/text/detect.ts";
import { closedOnFailure } from "../../engine/workspace/directory.ts";
import { answerBytes, sizeHint } from "./answer.ts";
import { pathAt } from "./paths.ts";
import { polyfsTool } from "./polyfs-tool.ts";
import { queriedName } from "./queried-name.ts";
import { anchorNotes, globsOf, scopeOf, scopeProperties } from "./scope.ts";
import { KindFilter } from "./search-kinds.ts";
import { FileResults, LineResults } from "./search-results.ts";

const maxMs = 30_000;
const maxLineBytes = 8000; // as many as the characters that are shown can have
const maxContext = 100;
const sample = 8000;
const given = { content: "lines", files: "files", count: "counts" } as const;

export const searchText = polyfsTool({
  name: "search_text",
  title: "Search text",
  description: "Search contents. `12: match`, `11- context`, by file with version.",
  input: {
    type: "object",
    properties: {
      pattern: { type: "string", minLength: 1, description: "Rust regex; look-around too." },
      literal: { type: "boolean" },
      path: { type: "string", default: ".", description: "Directory or file." },
      glob: { type: "string" },
      ignore_case: { type: "boolean" },
      whole_word: { type: "boolean" },
      multiline: { type: "boolean" },
      output: { type: "string", enum: ["content", "files", "count"], default: "content" },
      kind: { type: "string", enum: ["text", "definition", "reference"], default: "text" },
      context: { type: "integer", minimum: 0, default: 0 },
      limit: { type: "integer", minimum: 1, default: 100, description: "Matches." },
      offset: { type: "integer", minimum: 0, default: 0 },
      ...scopeProperties,
    },
    required: ["pattern"],
  },
  effect: "reads",
  meta: sizeHint,
  paths: ["path"],
  async run(params, call) {
    const { output, limit, offset, kind } = params;
    const context = output === "content" ? Math.min(params.context, maxContext) : 0;
    using place = placeOf(params.path, params.glob, call);
    const asked = kind === "text" ? undefined : queriedName(params.pattern, kind);
    const literal = params.literal || asked !== undefined;
    const query = {
      pattern: asked?.name ?? params.pattern,
      literal,
      ignoreCase: params.ignore_case,
      // "$" is not part of a word; the filter by kind compares the whole name.
      wholeWord: params.whole_word || (kind !== "text" && !asked?.name.includes("$")),
      multiline: params.multiline,
      lookaround: !literal,
    };
    const search = grep(place.directory, withAnyBreak(query), {
      ...scopeOf(params),
      include: place.include,
      file: place.file,
      before: context,
      after: context,
      binary: file => isNoText(file.readNow(0, sample)),
      reading: "detected",
      columns: true,
      limit: output === "count" || kind !== "text" ? undefined : offset + limit + 1,
      form: kind === "text" ? given[output] : "lines",
      maxLineBytes,
      timeoutMs: maxMs,
      signal: call.signal,
    });
    const page = { offset, limit, room: answerBytes(call.settings) };
    const results =
      output === "content" ? new LineResults(page, context, call) : new FileResults(page, output);
    const filter = kind === "text" ? undefined : new KindFilter(kind, { ...query, name: asked }, call);
    let isFound = false;
    if (!place.excluded) {
      for await (const file of search) {
        isFound = true;
        const path = place.pathOf(file);
        const hits = filter === undefined ? file : await filter.of(path, file);
        if (hits !== undefined && !(await results.add(path, hits))) break;
      }
    }
    const anchor = isFound ? [] : anchorNotes(params.glob ?? "");
    const undecoded = search.report.undecoded?.map(path => place.pathOf({ path, lines: [] }).given);
    const isTree = place.file === undefined;
    const unread = isFound || undecoded !== undefined ? [] : await unreadNotes(params, isTree, call);
    const broken = isFound || params.multiline || !params.pattern.includes("\n") ? [] : [breakNote];
    const lines = [
      await results.print(search.report),
      ...anchor,
      ...broken,
      ...unread,
      ...undecodedNotes(undecoded),
      ...(filter?.notes() ?? []),
    ];
    return text(lines.join("\n"));
  },
});

const breakNote = "[no line holds a line break; multiline: true searches across lines]";
const pdfNote = "[the text of a PDF is not searched; read_file shows it]";

/** That files may hold what was not found in them. */
function undecodedNotes(paths: readonly string[] = []): string[] {
  if (paths.length === 0) return [];
  const names = paths.slice(0, 3).map(printable).join(", ") + (paths.length > 3 ? " and others" : "");
  return [`[${names} may hold more: encoding not certain; read_file with encoding shows the text]`];
}

interface Sought {
  readonly pattern: string;
  readonly path: string;
  readonly glob?: string | undefined;
}

/** That nothing was found because a file is not text, or may be text in another encoding than it is read in. */
async function unreadNotes(
  { pattern, path, glob = "" }: Sought,
  isDirectory: boolean,
  call: CallContext,
): Promise<string[]> {
  if (isDirectory) return /\bpdf\b/i.test(glob) ? [pdfNote] : [];
  using file = await call.workspace.openFile(pathAt(call, path)).catch(error => {
    if (error instanceof Fault) return undefined; // nothing was found in what the caller may see
    throw error;
  });
  const head = file?.readNow(0, sample) ?? Buffer.alloc(0);
  if (isPdf(head)) return [pdfNote];
  if (isNoText(head)) return ["[not searched: the file is binary]"];
  if (file === undefined || file.size > call.settings.maxFileBytes || isAscii(Buffer.from(pattern)))
    return [];
  return isUncertain(await file.bytes(call.settings.maxFileBytes)) ? undecodedNotes([path]) : [];
}

/** Where to search: a directory, or one file in the directory that it really is in, since searches follow no links. */
function placeOf(written: string, glob: string | undefined, call: CallContext) {
  const { workspace } = call;
  const at = pathAt(call, written);
  const isDirectory = workspace.stat(at).kind === "directory";
  if (!isDirectory) workspace.file(at).close(); // refuses anything but a regular file
  const real = isDirectory ? at : workspace.at(workspace.locate(at).path);
  const directory = workspace.directory(isDirectory ? at : real.parent);
  const globs = closedOnFailure(directory, () =>
    glob === undefined ? undefined : globsOf([glob], { absolute: directory.path }),
  );
  return {
    directory,
    file: isDirectory ? undefined : real.name,
    include: isDirectory ? globs : undefined,
    /** A glob that a single file does not match. */
    excluded: !isDirectory && globs?.matches(real.name) === false,
    pathOf: ({ path }: FileHits) => (isDirectory ? at.below(path, nameBelow(at, path)) : at),
    [Symbol.dispose]: () => directory.close(),
  };
}
