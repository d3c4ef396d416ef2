// Flushes everything that the file system of a directory holds in memory, in one call for any number of files, with
// `sync -f`, which calls syncfs and fails if that does. Only on Linux: the programs of other systems cannot flush one
// file system and wait for it.
import { spawnSync } from "node:child_process";
import type { WholeFlush } from "../workspace/system/whole-flush.ts";
import { startProcess } from "./process.ts";

/** By its path: the program starts in the caller's tree, where PATH may lead to anything. */
const program = "/bin/sync";
const args = ["-f", "."];
/** At the end of the process. What a slower disk has yet to take is left to the next process, with its journal. */
const longestMs = 5_000;

/** False if it was not flushed: then the system writes it out in its own time. */
export async function flushFileSystem(directory: string): Promise<boolean> {
  if (process.platform !== "linux") return false;
  try {
    const sync = await startProcess(program, args, { cwd: directory, env: {} });
    const { code } = await sync.read(() => {});
    return code === 0;
  } catch {
    return false;
  }
}

function flushFileSystemNow(directory: string): boolean {
  if (process.platform !== "linux") return false;
  const options = { cwd: directory, env: {}, stdio: "ignore", timeout: longestMs } as const;
  return spawnSync(program, args, options).status === 0;
}

export const wholeFlushes: WholeFlush = { later: flushFileSystem, now: flushFileSystemNow };
