// Gives every file of a tree bytes of its own. A file with other names is copied outside of the tree and moved over
// itself, so at every moment the tree is whole; done again after a crash, it goes on where it was.
import { constants } from "node:fs";
import { giveModeAt, ownerOf } from "../commit/granted-mode.ts";
import { sys } from "../commit/syscalls.ts";
import { Handle } from "../handle.ts";
import { lchownSync, lutimesSync } from "../system/calls.ts";
import type { Address } from "../system/held.ts";
import { filesBelow } from "./files-below.ts";

/** `scratch` is a path for one file on the same file system, which no other process uses. */
export async function privatise(tree: Handle, scratch: string, signal?: AbortSignal): Promise<void> {
  for await (const { address, stats } of filesBelow(tree, signal)) {
    if (stats.nlink > 1) replace(address, scratch);
  }
}

function replace(address: Address, scratch: string): void {
  using held = Handle.open(address, { follow: false });
  const stats = held.stat();
  if (!stats.isFile()) return;
  sys.copyFile(held.address, scratch, constants.COPYFILE_FICLONE);
  if (stats.uid !== process.getuid?.() || stats.gid !== process.getgid?.())
    lchownSync(scratch, stats.uid, stats.gid);
  giveModeAt(scratch, stats.mode, ownerOf(stats));
  lutimesSync(scratch, stats.atimeMs / 1000, stats.mtimeMs / 1000);
  sys.rename(scratch, address);
}
