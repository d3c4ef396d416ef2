// Gives every file of a tree bytes of its own. A file with other names is copied outside of the tree and moved over
// itself, so at every moment the tree is whole; done again after a crash, it goes on where it was.
import { constants, lchownSync, lstatSync, lutimesSync } from "node:fs";
import { sys } from "../commit/syscalls.ts";
import { addressOf, rawNamesIn } from "../footprint/raw-names.ts";
import { TimeSlice } from "../footprint/time-slice.ts";
import { Handle } from "../handle.ts";
import type { Address } from "../system/held.ts";

/** `scratch` is a path for one file on the same file system, which nobody else uses. */
export async function privatise(tree: Handle, scratch: string, signal?: AbortSignal): Promise<void> {
  const slice = new TimeSlice();

  async function visit(directory: Handle): Promise<void> {
    for (const name of rawNamesIn(directory)) {
      if (slice.isOver) {
        await slice.turn();
        signal?.throwIfAborted();
      }
      const address = directory.below(addressOf(name));
      const stats = lstatSync(address, { throwIfNoEntry: false });
      if (stats?.isDirectory()) {
        using below = Handle.open(address, { follow: false, directory: true });
        await visit(below);
      } else if (stats?.isFile() && stats.nlink > 1) replace(address, scratch);
    }
  }

  await visit(tree);
}

function replace(address: Address, scratch: string): void {
  using held = Handle.open(address, { follow: false });
  const stats = held.stat();
  if (!stats.isFile()) return;
  sys.copyFile(held.address, scratch, constants.COPYFILE_FICLONE);
  if (stats.uid !== process.getuid?.() || stats.gid !== process.getgid?.())
    lchownSync(scratch, stats.uid, stats.gid);
  sys.chmodAt(scratch, stats.mode & 0o7777);
  lutimesSync(scratch, stats.atimeMs / 1000, stats.mtimeMs / 1000);
  sys.rename(scratch, address);
}
