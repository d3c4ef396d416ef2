// A history too long to be made by calls: the engine's own archive records the changes, in this process, without the
// calls, the writes and the journals before it. The records and the contents before and after are those that a server
// keeps for `write_file`, and they are gathered and collected as a server does it. Not made are the records of changes
// that the history would have forgotten in the end, and the copies that a server keeps for versions (`reads` and `seen`
// in the state directory).
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { contentHash } from "../src/engine/text/version.ts";
import { Archive } from "../src/engine/workspace/archive/archive.ts";
import { HeldDirectories } from "../src/engine/workspace/disk/held-directories.ts";
import { atOnce } from "../src/engine/workspace/footprint/time-slice.ts";

const by = { action: "write_file", client: "bench", connection: "bench" };
/** More than the history keeps. */
const recorded = 11_000;
/** As often as a server clears. */
const clearEvery = 500;
const flushEvery = 5000;

/** Records the changes from one number to another: writes to so many files in turn, each of its own number. */
export async function makeHistory(
  state: string,
  root: string,
  files: number,
  from: number,
  to: number,
): Promise<void> {
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const archive = new Archive(state);
  const places = new HeldDirectories();
  const latest = new Map<string, Buffer>();
  for (let i = 0; i < files; i++) {
    const path = pathOf(root, i);
    if (existsSync(path)) latest.set(path, readFileSync(path));
  }
  for (let made = from; made < to; made++) {
    const at = pathOf(root, made % files);
    const old = latest.get(at);
    const bytes = Buffer.from(`${made}\n`);
    latest.set(at, bytes);
    if (made % flushEvery === 0) await archive.flush();
    if (made < to - recorded) {
      archive.objects.put(bytes);
      continue;
    }
    const [before, after] = [old, bytes].map(one => one && { hash: contentHash(one), bytes: one });
    const contents = new Map([before, after].flatMap(one => (one ? [[one.hash, one.bytes]] : [])));
    const pending = (one: typeof after) =>
      one && ({ kind: "file", mode: 0o644, size: one.bytes.length, hash: one.hash } as const);
    const [was, is] = [pending(before), pending(after)];
    const effect = was === undefined ? "created" : "modified";
    const file = { at, effect, kind: "file", ...(was && { before: was }), ...(is && { after: is }) } as const;
    const account = { time: Date.now(), by, files: [file], parents: [] };
    const sources = { places, blob: () => bytes, contents, temporary: [] };
    atOnce(archive.record(archive.changes.newId(), account, sources));
    if (made % clearEvery === 0) await archive.clearLater();
  }
  await archive.clearLater();
  await archive.flush();
  for (const [path, bytes] of latest) writeFileSync(path, bytes);
}

function pathOf(root: string, number: number): string {
  return join(root, `f${number}.txt`);
}
