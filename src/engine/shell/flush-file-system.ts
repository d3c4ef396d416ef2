// Writes out everything that the file system of a directory holds in memory, in one call for any number of files.
import { reducedEnvironment } from "./environment.ts";
import { startProcess } from "./process.ts";

/** Where there is no sync(1) that can, nothing happens: then the system writes it out in its own time. */
export async function flushFileSystem(directory: string): Promise<void> {
  try {
    const sync = await startProcess("sync", ["-f", "."], { cwd: directory, env: reducedEnvironment() });
    await sync.read(() => {});
  } catch {
    // no such program
  }
}
