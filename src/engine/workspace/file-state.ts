// The state of an open file: its identity, size and times in nanoseconds. What was read in one state holds as long as
// the file is in it.
//
// The clock that stamps files ticks slower than that, so two writes within a tick look the same. So a file that
// changed just before has no state; after the next tick a change shows. (Writes through a memory map show when the
// system stamps the file, which may be later.)
import type { OpenFile } from "./file.ts";

const settledMs = 2500; // some file systems count in steps of two seconds

/** Undefined if the next change might not show. */
export function stateOf(file: OpenFile): string | undefined {
  const { dev, ino, size, mtimeNs, ctimeNs, ctimeMs } = file.statBig();
  const sinceChange = Date.now() - Number(ctimeMs);
  return sinceChange > settledMs ? `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}` : undefined;
}
