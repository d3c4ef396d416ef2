// A small file system in memory, where this process may mount one.
import { spawnSync } from "node:child_process";
import { mkdirSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

/** Mounts it on a directory, until it is disposed of; `mounted` is false if that is not allowed. */
export function mountSmall(directory: string, size = "2m"): AsyncDisposable & { mounted: boolean } {
  mkdirSync(directory, { recursive: true });
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", directory]);
  const end = async () => (status === 0 ? await unmount(directory) : undefined);
  return { mounted: status === 0, [Symbol.asyncDispose]: end };
}

/** Without /proc, a mount cannot be detached, and a directory may still be held for a moment. */
export async function unmount(directory: string): Promise<void> {
  if (spawnSync("umount", ["-l", directory]).status === 0) return;
  for (let i = 0; i < 200 && spawnSync("umount", [directory]).status !== 0; i++) await setTimeout(25);
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
