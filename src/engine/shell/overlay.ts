// Overlay mounts: a writable tree over a frozen one, in a few milliseconds and without copying. Needs the right to
// mount; whether there is one is found out by trying. All paths are relative to a directory that is given by name,
// so that no character in them means something to mount(8).
import { reducedEnvironment } from "./environment.ts";
import { startProcess } from "./process.ts";

export interface Overlay {
  /** The directory that the others are relative to. */
  readonly directory: string;
  readonly lower: string;
  readonly upper: string;
  readonly work: string;
  /** Where the tree is seen. */
  readonly at: string;
}

/** Undefined if it is mounted; otherwise why it is not. */
export function mountOverlay({ directory, lower, upper, work, at }: Overlay): Promise<string | undefined> {
  // redirect_dir: programs rename directories, and many do not expect that to fail.
  const layers = `lowerdir=${lower},upperdir=${upper},workdir=${work}`;
  const options = `${layers},redirect_dir=on,index=off,metacopy=off`;
  return run("mount", ["-n", "-t", "overlay", "polyfs", "-o", options, at], directory);
}

/** Undefined if it is no longer mounted; otherwise why it still is: it is in use. */
export function unmount(directory: string, at: string): Promise<string | undefined> {
  return run("umount", ["-n", at], directory);
}

async function run(program: string, args: readonly string[], cwd: string): Promise<string | undefined> {
  try {
    const started = await startProcess(program, args, { cwd, env: { ...reducedEnvironment(), LC_ALL: "C" } });
    const { code, errors } = await started.read(() => {});
    return code === 0 ? undefined : errors.trim() || `${program} failed`;
  } catch {
    return `${program} cannot be started`;
  }
}
