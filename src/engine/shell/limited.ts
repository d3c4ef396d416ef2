// Runs a program with a memory limit, and so that it dies with this process. Node can do neither, so a shell sets the
// limit and `setpriv` asks the kernel for a signal when the parent ends; each then execs the program. Elsewhere than
// on Linux, or without a shell, the program runs as it is.
import { once } from "../once.ts";
import { startProcess } from "./process.ts";

const shell = "/bin/sh";
/** By its path: the program starts in the caller's tree, where PATH may lead to anything. */
const setpriv = "/usr/bin/setpriv --pdeathsig KILL";

/** How to start programs under limits; undefined if there is no way. */
const probed = once(probe);

export interface ProgramCall {
  readonly command: string;
  readonly args: readonly string[];
}

/** The command line that runs `command` with at most this many bytes of data. */
export async function limited({ command, args }: ProgramCall, dataBytes: number): Promise<ProgramCall> {
  const means = await probed();
  if (means === undefined) return { command, args };
  const limits = `ulimit -c 0; ulimit -d ${Math.floor(dataBytes / 1024)} 2>/dev/null;`;
  const script = `${limits} exec ${means === "setpriv" ? `${setpriv} ` : ""}"$0" "$@"`;
  return { command: shell, args: ["-c", script, command, ...args] };
}

async function probe(): Promise<"setpriv" | "shell" | undefined> {
  if (process.platform !== "linux") return undefined;
  if (await succeeds(`exec ${setpriv} /bin/true`)) return "setpriv";
  return (await succeeds("exit 0")) ? "shell" : undefined;
}

async function succeeds(script: string): Promise<boolean> {
  try {
    const started = await startProcess(shell, ["-c", script], { cwd: "/", env: {} });
    const { code } = await started.read(() => {});
    return code === 0;
  } catch {
    return false;
  }
}
