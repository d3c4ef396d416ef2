// Limits that a shell puts on itself before it becomes the command: they hold for everything that it starts and
// cannot be raised again. Shells differ in the letter for processes; a limit that the system does not know, or
// that is lower already, is passed over.
import { release } from "node:os";

/** Bounds on what one command may use up. `Infinity` is none. */
export interface CommandLimits {
  /** Processes and threads. */
  readonly processes: number;
  /** Memory of one process, and of all together where the system can count that. */
  readonly memoryBytes: number;
  /** What fits into the private /tmp, and into the private home directory. Both are memory. */
  readonly scratchBytes: number;
  /** The largest file that may be written. */
  readonly fileBytes: number;
  /** What must stay free on the disks of the roots: a command that takes more is stopped. */
  readonly reserveBytes: number;
}

export const defaultLimits: CommandLimits = {
  processes: 1024,
  memoryBytes: 4 * 1024 ** 3,
  scratchBytes: 1024 ** 3,
  fileBytes: 4 * 1024 ** 3,
  reserveBytes: 256 * 1024 ** 2,
};

/** /bin/sh and its arguments, to run `command` within limits. `before` is a script of ours that runs first. */
export function shellWithLimits(command: string, limits: CommandLimits, before = ""): readonly string[] {
  const { processes, memoryBytes, fileBytes } = limits;
  const steps = [
    ...(before === "" ? [] : [before]),
    "ulimit -c 0",
    // The data segment, not the address space: runtimes reserve far more addresses than they ever use.
    ...(memoryBytes === Number.POSITIVE_INFINITY ? [] : [`ulimit -d ${Math.ceil(memoryBytes / 1024)}`]),
    ...(fileBytes === Number.POSITIVE_INFINITY ? [] : [`ulimit -f ${Math.ceil(fileBytes / 512)}`]),
    ...(processes === Number.POSITIVE_INFINITY || !countsPerNamespace()
      ? []
      : [`ulimit -p ${processes} || ulimit -u ${processes}`]),
  ];
  const script = `{ ${steps.join("; ")}; } 2>/dev/null; exec /bin/sh -c "$1"`;
  return ["/bin/sh", "-c", script, "sh", command];
}

/** Before Linux 5.14 all processes of the user counted, those outside too: a desktop has more than any limit. */
function countsPerNamespace(): boolean {
  const [major = 0, minor = 0] = release().split(".").map(Number);
  return process.platform === "linux" && (major > 5 || (major === 5 && minor >= 14));
}
