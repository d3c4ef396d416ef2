// Makes a directory durable before the only copy of something leaves its old place for it: after a power cut, the loss
// of the old name must not be on the disk without the new one, nor without the directories that lead there.
import { constants } from "node:fs";
import type { HeldDirectories } from "../disk/held-directories.ts";
import { flushAndClose, sys } from "../disk/syscalls.ts";
import { errnoOf } from "../errno.ts";
import { Handle } from "../handle.ts";
import { byDescriptor } from "../system/descriptors.ts";
import type { Address } from "../system/held.ts";
import { onWindows } from "../windows-path.ts";

/** File systems write everything out within minutes: the entries of a directory that changed earlier are durable. */
const recentMs = 10 * 60_000;
const deepest = 4096;

/**
 * Flushes a directory and those above it, up to the first that has not changed for a while. The process that made
 * them (this one, another, or recovery) may not have flushed them yet.
 */
export function makeDurable(places: HeldDirectories, place: number): void {
  if (onWindows) return;
  flush(places.handle(place).address);
  if (places.reachable.has(place)) return;
  places.reachable.add(place);
  if (byDescriptor) flushAbove(places.handle(place));
  else flushNewAbove(places, place);
}

function flushAbove(directory: Handle): void {
  let { dev, ino } = directory.stat();
  let above: Address = directory.address;
  for (let level = 0; level < deepest; level++) {
    above = `${above}/..`;
    using parent = openIfAllowed(above);
    const stat = parent?.stat();
    const isTop = stat === undefined || stat.dev !== dev || stat.ino === ino; // of the mount, or of everything
    if (parent === undefined || isTop || Date.now() - stat.ctimeMs > recentMs) return;
    flush(parent.address);
    ({ dev, ino } = stat);
  }
}

/** On systems without addresses for descriptors: only the parents of the directories that this commit made. */
function flushNewAbove(places: HeldDirectories, place: number): void {
  const record = places.records[place];
  if (record === undefined || !("within" in record)) return;
  flush(places.handle(record.within).address);
  flushNewAbove(places, record.within);
}

function openIfAllowed(address: Address): Handle | undefined {
  try {
    return Handle.open(address, { directory: true });
  } catch {
    return undefined;
  }
}

function flush(address: Address): void {
  let fd: number;
  try {
    fd = sys.open(address, constants.O_RDONLY | constants.O_DIRECTORY);
  } catch (error) {
    if (errnoOf(error) === "EACCES") return; // it may be written to and not read
    throw error;
  }
  flushAndClose(fd);
}
