// The texts that were read last, with their versions, lines and head lines. A file that is read again, or page by page,
// is compared byte by byte with what is kept, which takes a fraction of the time of hashing and decoding it.
import { remember } from "../../engine/history/versions.ts";
import { once } from "../../engine/once.ts";
import { LineIndex } from "../../engine/text/lines.ts";
import type { Text } from "../../engine/text/text.ts";
import { contentHash } from "../../engine/text/version.ts";
import type { OpenFile } from "../../engine/workspace/file.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import { readableText } from "./documents.ts";
import { headLine } from "./text-file.ts";

/** What is kept for a workspace, in bytes of files; their texts and pages take twice as much again. */
const maxKeptBytes = 1024 * 1024;
/** The largest text that is kept. */
export const mostTextBytes = 256 * 1024;

export interface ReadText {
  readonly text: Text;
  /** What the file is, where its text is not what its bytes are. */
  readonly as: string | undefined;
  readonly hash: string;
  readonly version: string;
  readonly index: () => LineIndex;
  readonly head: () => string;
  /** The last such page. */
  readonly shown: ShownPage;
}

/** A page that ends where the text does, and how it was asked for. */
interface ShownPage {
  how: string;
  text: string;
}

interface KeptText extends ReadText {
  readonly given: string;
  readonly encoding: string | undefined;
  readonly bytes: Buffer;
}

const texts = new WeakMap<Workspace, RecentTexts>();

/** The text of a file, whose version is remembered for later edits. At once if the text was read before. */
export function textRead(
  workspace: Workspace,
  file: OpenFile,
  bytes: Buffer,
  encoding: string | undefined,
): ReadText | Promise<ReadText> {
  const recent = texts.get(workspace) ?? new RecentTexts();
  texts.set(workspace, recent);
  const known = recent.find(file, bytes, encoding);
  if (known === undefined) return made(workspace, recent, file, bytes, encoding);
  remember(workspace, file.path, known.bytes, known.hash);
  return known;
}

async function made(
  workspace: Workspace,
  recent: RecentTexts,
  { given, path }: OpenFile,
  bytes: Buffer,
  encoding: string | undefined,
): Promise<ReadText> {
  const { text, as } = await readableText(given, bytes, encoding);
  const hash = contentHash(bytes);
  const version = remember(workspace, path, bytes, hash);
  const index = once(() => new LineIndex(text.body));
  const head = once(() => headLine(given, text, version, { as, lines: index().count("terminated") }));
  const shown = { how: "", text: "" };
  const read = { given, encoding, bytes, hash, text, as, version, index, head, shown };
  recent.keep(path, read);
  return read;
}

/** By path, the one that was read last comes last. */
class RecentTexts {
  readonly #kept = new Map<string, KeptText>();
  #bytes = 0;

  find({ path, given }: OpenFile, bytes: Buffer, encoding: string | undefined): KeptText | undefined {
    const kept = this.#kept.get(path);
    if (kept === undefined || kept.given !== given || kept.encoding !== encoding) return undefined;
    if (!kept.bytes.equals(bytes)) return undefined;
    this.#kept.delete(path);
    this.#kept.set(path, kept);
    return kept;
  }

  keep(path: string, text: KeptText): void {
    this.#drop(path);
    if (text.bytes.length > mostTextBytes) return;
    this.#kept.set(path, text);
    this.#bytes += text.bytes.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= maxKeptBytes) return;
      this.#drop(oldest);
    }
  }

  #drop(path: string): void {
    this.#bytes -= this.#kept.get(path)?.bytes.length ?? 0;
    this.#kept.delete(path);
  }
}
