// A cut that failed, as a file: the recording, the calls that were answered, and the seed of the cut. It can be made
// again, which a new run with the same seed cannot do, because the moments of flushes differ from run to run.
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deserialize, serialize } from "node:v8";
import { gunzipSync, gzipSync } from "node:zlib";
import type { Recording } from "./recording.ts";
import type { Step } from "./session.ts";

/** What a cut needs of a recording. */
export type Recorded = Pick<Recording, "base" | "root" | "things" | "operations">;

export interface SavedCut {
  readonly recording: Recorded;
  readonly steps: readonly Step[];
  /** How many of the calls were answered before the first cut. */
  readonly answered: number;
  /** Changes that were recorded before the first call. */
  readonly history?: readonly string[];
  /** Names that were first used after the last of these answers. */
  readonly underWay: readonly string[];
  /** The number of cuts before this one. If there were any, the recording is that of a recovery. */
  readonly earlier: number;
  readonly cut: number;
  readonly seed: number;
}

let folder: string | undefined;
let count = 0;

/** Returns the name of the file. */
export function saveCut({ recording, ...rest }: SavedCut): string {
  folder ??= mkdtempSync(join(tmpdir(), "polyfs-power-cuts-"));
  const path = join(folder, `${++count}`);
  const { base, root, things, operations } = recording;
  const saved: SavedCut = { recording: { base, root, things, operations }, ...rest };
  writeFileSync(path, gzipSync(serialize(saved)));
  return path;
}

export function readCut(path: string): SavedCut {
  const read: SavedCut = deserialize(gunzipSync(readFileSync(path)));
  const whole = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const things = read.recording.things.map(thing => ({ ...thing, data: whole(thing.data) }));
  const operations = read.recording.operations.map(one =>
    one.is === "write" ? { ...one, data: whole(one.data) } : one,
  );
  return { ...read, recording: { ...read.recording, things, operations } };
}
