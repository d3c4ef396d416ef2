// Mounts a file system that ignores case and Unicode form (serve.mjs), where this process may mount one.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const program = join(dirname(fileURLToPath(import.meta.url)), "serve.mjs");

/**
 * Mounts it on a directory. `decomposes`: it stores names in Unicode form D, as HFS+ does.
 *
 * @returns {Promise<(() => Promise<void>) | undefined>} Ends it; undefined if nothing can be mounted.
 */
export async function mountFolding(directory, { decomposes = false } = {}) {
  const before = statSync(directory).dev;
  const args = [program, directory, ...(decomposes ? ["decomposes"] : [])];
  const server = spawn(process.execPath, args, { stdio: "ignore" });
  let isOver = false;
  const over = once(server, "exit").then(() => (isOver = true));
  while (!isOver && statSync(directory).dev === before) await setTimeout(10);
  if (isOver) return undefined;
  return async () => {
    for (let i = 0; i < 200 && spawnSync("umount", [directory]).status !== 0; i++) await setTimeout(25);
    server.kill("SIGKILL"); // what still holds the mount loses it
    await over;
    spawnSync("umount", ["-l", directory]);
  };
}
