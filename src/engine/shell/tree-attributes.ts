// Extended attributes of many files at once, from one tree to a copy of it, without ACLs: `cp` copies these together
// with modes. Node has no call for either. Only on Linux; what cannot be copied is left out.
import { reducedEnvironment } from "./environment.ts";
import { startProcess } from "./process.ts";

/** Of all arguments of a process. */
const mostArgumentBytes = 100_000;

/**
 * A file may have become a named pipe since it was copied. `cp -R` does not open pipes, but one that takes the place of
 * a file between its `lstat` and its `open` blocks it permanently. After this time the process is killed, and the
 * attributes that are left are not copied.
 */
const mostWaitMs = 60_000;

/** `paths` are relative, and files on both sides. Both trees are given by their paths. */
export async function copyTreeAttributes(
  from: string,
  to: string,
  paths: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  if (process.platform !== "linux") return;
  for (let at = 0; at < paths.length; ) {
    signal?.throwIfAborted();
    const some: string[] = [];
    for (let bytes = 0; at < paths.length && bytes < mostArgumentBytes; at++) {
      const path = paths[at] ?? "";
      some.push(`./${path}`);
      bytes += Buffer.byteLength(path) + 3;
    }
    const args = ["-PR", "--attributes-only", "--preserve=xattr", "--parents", "-t", to, ...some];
    const late = AbortSignal.timeout(mostWaitMs);
    const ending = signal === undefined ? late : AbortSignal.any([signal, late]);
    try {
      const cp = await startProcess("cp", args, { cwd: from, env: reducedEnvironment(), signal: ending });
      await cp.read(() => {});
    } catch {
      return; // no such program
    }
  }
}
