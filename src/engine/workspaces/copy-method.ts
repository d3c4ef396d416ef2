// How a fork gets its files, from the cheapest to the one that always works. Which one this machine can do is found out
// by doing it, once.
//
//   overlay   a mount over the snapshot: nothing is copied, whatever writes gets a copy of its own from the kernel
//   reflink   files share blocks until one of them is written (btrfs, XFS)
//   link      files are hard links of the snapshot's. The server replaces files and never writes into them, so it is
//             safe as long as nothing else writes; before a command may, every file gets bytes of its own (privatise.ts)
//   copy      for file systems without links
import { join } from "node:path";
import { mountOverlay, unmount } from "../shell/overlay.ts";
import { purgeLater } from "../workspace/commit/purge.ts";
import { makeDirectory } from "../workspace/commit/state.ts";
import { Handle } from "../workspace/handle.ts";
import { byDescriptor } from "../workspace/system/descriptors.ts";
import { canLink, canReflink } from "../workspace/tree/try-copy.ts";
import type { CopyMethod } from "./record.ts";

export interface Chosen {
  readonly method: CopyMethod;
  /** Why the better ones are not taken. */
  readonly because: readonly string[];
}

/** `directory` is where forks will be. Tries in a folder of that name, and leaves nothing behind. */
export async function chooseMethod(directory: string, name: string): Promise<Chosen> {
  const place = join(directory, name);
  makeDirectory(place);
  try {
    const why = await overlayFails(place);
    if (why === undefined) return { method: "overlay", because: [] };
    if (canReflink(place)) return { method: "reflink", because: [`overlay: ${why}`] };
    const because = [`overlay: ${why}`, "reflink: the file system has none"];
    if (canLink(place)) return { method: "link", because };
    return { method: "copy", because: [...because, "link: the file system has none"] };
  } finally {
    using parent = Handle.open(directory);
    await purgeLater(parent, name);
  }
}

async function overlayFails(place: string): Promise<string | undefined> {
  if (!byDescriptor) return "only Linux has it, and mount(8) needs /proc";
  for (const name of ["lower", "upper", "work", "tree"]) makeDirectory(join(place, name));
  const failed = await mountOverlay({
    directory: place,
    lower: "lower",
    upper: "upper",
    work: "work",
    at: "tree",
  });
  // A second line of mount(8) points to the log of the kernel.
  if (failed !== undefined) return failed.replace(/^mount: \S+ /, "").replace(/\.?\s+dmesg\(1\).*$/s, "");
  return unmount(place, "tree");
}
