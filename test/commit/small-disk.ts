// A small file system in memory, where this process may mount one.
import { spawnSync } from "node:child_process";
import { mkdirSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Mounts it on a directory, until it is disposed of; `mounted` is false where that is not allowed. */
export function mountSmall(directory: string): { mounted: boolean; [Symbol.dispose](): void } {
  mkdirSync(directory, { recursive: true });
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", directory]);
  const unmount = () => {
    if (status !== 0 || spawnSync("umount", ["-l", directory]).status === 0) return;
    spawnSync("umount", [directory]); // without /proc, there is only this way
  };
  return { mounted: status === 0, [Symbol.dispose]: unmount };
}

/** Fills a file system to the last block. */
export function fill(directory: string): void {
  const { bavail, bsize } = statfsSync(directory);
  try {
    writeFileSync(join(directory, "ballast"), Buffer.alloc(Number(bavail) * Number(bsize) + 4096));
  } catch {
    // the last block is taken
  }
}
