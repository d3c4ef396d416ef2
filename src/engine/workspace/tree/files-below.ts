// Every regular file of a tree, without following links. The walk gives way to other work, and its directory stays
// open while the caller uses a file's address.
import type { Stats } from "node:fs";
import { addressOf, rawNamesIn } from "../footprint/raw-names.ts";
import { TimeSlice } from "../footprint/time-slice.ts";
import { Handle } from "../handle.ts";
import { lstatSync } from "../system/calls.ts";
import type { Address } from "../system/held.ts";

export async function* filesBelow(
  directory: Handle,
  signal?: AbortSignal,
  slice = new TimeSlice(),
): AsyncGenerator<{ readonly directory: Handle; readonly address: Address; readonly stats: Stats }> {
  for (const name of rawNamesIn(directory)) {
    if (slice.isOver) {
      await slice.turn();
      signal?.throwIfAborted();
    }
    const address = directory.below(addressOf(name));
    const stats = lstatSync(address, { throwIfNoEntry: false });
    if (stats?.isDirectory()) {
      using below = Handle.open(address, { follow: false, directory: true });
      yield* filesBelow(below, signal, slice);
    } else if (stats?.isFile()) yield { directory, address, stats };
  }
}
