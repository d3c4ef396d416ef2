// The place for temporary trees of tests and suites: on a disk. Many systems keep the usual one in memory, where the
// program works otherwise: it says that history ends with the machine, and flushes files before the answer.
import { accessSync, constants, statfsSync } from "node:fs";
import { tmpdir } from "node:os";

const inMemory = [0x01021994, 0x858458f6]; // tmpfs, ramfs
const onDisk = "/var/tmp";

const isInMemory = path => inMemory.includes(statfsSync(path).type >>> 0);

/** Programs that are started from now on use a directory on a disk, too, if there is one. */
export function useTemporaryDirectoryOnDisk() {
  try {
    if (process.platform !== "linux" || !isInMemory(tmpdir()) || isInMemory(onDisk)) return;
    accessSync(onDisk, constants.W_OK | constants.X_OK);
    process.env.TMPDIR = onDisk;
  } catch {
    // The usual one has to do.
  }
}
