// Gives every file of a tree bytes of its own. A file with other names is copied outside of the tree and moved over
// itself, so at every moment the tree is whole; done again after a crash, it goes on where it was.
import { constants, type Stats } from "node:fs";
import { giveModeAt, ownerOf } from "../commit/granted-mode.ts";
import { mayReplaceIn } from "../commit/plan-write.ts";
import { sys } from "../disk/syscalls.ts";
import { Handle } from "../handle.ts";
import { lchownSync, lutimesSync } from "../system/calls.ts";
import type { Address } from "../system/held.ts";
import { filesBelow } from "./files-below.ts";

/** `scratch` is a path for one file on the same file system, which no other process uses. */
export async function privatise(tree: Handle, scratch: string, signal?: AbortSignal): Promise<void> {
  for await (const { directory, address, stats } of filesBelow(tree, signal)) {
    if (stats.nlink > 1) replace(directory, address, scratch);
  }
}

function replace(directory: Handle, address: Address, scratch: string): void {
  using held = Handle.open(address, { follow: false });
  const stats = held.stat();
  if (!stats.isFile()) return;
  copyFileWhole(held.address, stats, scratch);
  const mode = directory.stat().mode & 0o7777;
  const isClosed = !mayReplaceIn(directory);
  if (isClosed) sys.chmodAt(directory.address, mode | 0o700);
  try {
    sys.rename(scratch, address);
  } finally {
    if (isClosed) sys.chmodAt(directory.address, mode);
  }
}

/** With its owner, mode and times. */
export function copyFileWhole(from: Address, stats: Stats, to: Address): void {
  sys.copyFile(from, to, constants.COPYFILE_FICLONE);
  if (stats.uid !== process.getuid?.() || stats.gid !== process.getgid?.())
    lchownSync(to, stats.uid, stats.gid);
  giveModeAt(to, stats.mode, ownerOf(stats));
  lutimesSync(to, stats.atimeMs / 1000, stats.mtimeMs / 1000);
}
