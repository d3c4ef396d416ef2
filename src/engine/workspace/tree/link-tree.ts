// A second tree whose files are hard links of the first. The source is a frozen tree that does not change meanwhile, so
// nothing is held or looked at that need not be: one call for each file.
import { mayReplaceIn } from "../commit/plan-write.ts";
import { sys } from "../disk/syscalls.ts";
import { errnoOf, faultOf } from "../errno.ts";
import { addressOf } from "../footprint/raw-names.ts";
import { TimeSlice } from "../footprint/time-slice.ts";
import { display, Handle } from "../handle.ts";
import { lchownSync, lutimesSync, readdirSync } from "../system/calls.ts";
import type { Address } from "../system/held.ts";
import { copyFileWhole } from "./privatise.ts";

/**
 * `target` is an empty directory. A file is copied if it can have no further link, or if this user could not replace it:
 * whatever writes to it, writes into it.
 */
export async function linkTree(source: Handle, target: Handle, signal?: AbortSignal): Promise<void> {
  const slice = new TimeSlice();

  async function visit(from: Handle, to: Handle): Promise<void> {
    const place = mayReplaceIn(from) ? linkOrCopy : copy;
    for (const entry of readdirSync(from.address, { withFileTypes: true, encoding: "latin1" })) {
      if (slice.isOver) {
        await slice.turn();
        signal?.throwIfAborted();
      }
      const name = addressOf(entry.name);
      const [old, made] = [from.below(name), to.below(name)];
      try {
        if (!entry.isDirectory()) place(old, made);
        else {
          sys.mkdir(made, 0o700);
          using lower = Handle.open(old, { follow: false, directory: true });
          using upper = Handle.open(made, { follow: false, directory: true });
          await visit(lower, upper);
          const { atimeMs, mtimeMs } = lower.stat();
          // By its name: a descriptor in /proc is a link, whose own times would be set.
          lutimesSync(made, atimeMs / 1000, mtimeMs / 1000);
        }
      } catch (error) {
        throw faultOf(error, display(entry.name));
      }
    }
    adopt(from, to);
  }

  await visit(source, target);
}

function linkOrCopy(from: Address, to: Address): void {
  try {
    sys.link(from, to);
  } catch (error) {
    if (errnoOf(error) !== "EMLINK") throw error;
    copy(from, to);
  }
}

function copy(from: Address, to: Address): void {
  const stat = sys.lstat(from);
  if (stat?.isFile()) copyFileWhole(from, stat, to);
  else sys.link(from, to); // nothing writes into a symbolic link
}

/** Mode and owner of a directory, when everything is in it. */
function adopt(from: Handle, to: Handle): void {
  const { mode, uid, gid } = from.stat();
  const own = to.stat();
  if (own.uid !== uid || own.gid !== gid) lchownSync(to.address, uid, gid);
  sys.chmodAt(to.address, mode & 0o7777);
}
