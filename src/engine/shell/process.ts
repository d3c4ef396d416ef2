// Starts one program and streams its output; no other file starts programs this way. The program gets its arguments
// without a shell, an empty standard input or a file, and only the given environment.
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { Fault } from "../fault.ts";

const maxErrorBytes = 16 * 1024;

export interface ProcessOptions {
  /** Working directory. A held directory is read at the last moment (`Directory.here`). */
  readonly cwd: string | (() => string);
  readonly env: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** An open file to be its standard input. The caller closes it once the process has started. */
  readonly input?: number | undefined;
  /** Open files to be its descriptors from 3 on. The caller closes them once the process has started. */
  readonly files?: readonly number[] | undefined;
}

export interface ProcessExit {
  /** Undefined if a signal ended it. */
  readonly code: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  /** The beginning of its standard error. */
  readonly errors: string;
}

export interface Process {
  readonly pid: number;
  /** Its output as a stream, with backpressure. */
  readonly output: AsyncIterable<Buffer>;
  /** Bytes that wait to be read; beyond some thousand the writer blocks. */
  readonly waiting: number;
  /** Passes its output to a listener and reports the end: faster than `output`, and instead of it. */
  read(take: (chunk: Buffer) => void): Promise<ProcessExit>;
  /** When it has ended and its output has been read or dropped. */
  readonly exit: Promise<ProcessExit>;
  /** Ends it at once. Output so far can still be read. */
  kill(): void;
  /** Ends it and discards unread output: otherwise the pipe would stay open. */
  drop(): void;
}

/** Faults: `spawn_failed`. An aborted signal kills the process; a reader sees the end of the output. */
export async function startProcess(
  command: string,
  args: readonly string[],
  { cwd, env, signal, input, files = [] }: ProcessOptions,
): Promise<Process> {
  let child: ChildProcess;
  try {
    const stdio: StdioOptions = [input ?? "ignore", "pipe", "pipe", ...files];
    child = spawn(command, args, {
      cwd: typeof cwd === "string" ? cwd : cwd(),
      env,
      stdio,
      windowsHide: true,
    });
  } catch (error) {
    throw failure(command, error);
  }
  const { stdout, stderr, pid } = child;
  if (pid === undefined || stdout === null || stderr === null) {
    throw failure(command, await new Promise(resolve => child.once("error", resolve)));
  }
  // When a process ends, Node discards output without a listener. A reader may come later, so it is held.
  const hold = (): void => {};
  stdout.on("readable", hold);
  let errors = "";
  stderr.setEncoding("utf8");
  stderr.on("data", (text: string) => {
    if (errors.length < maxErrorBytes) errors += text;
  });
  const kill = (): void => {
    child.kill("SIGKILL");
  };
  const drop = (): void => {
    kill();
    stdout.off("readable", hold).on("data", hold);
  };
  if (signal?.aborted) drop();
  signal?.addEventListener("abort", drop, { once: true });
  const exit = new Promise<ProcessExit>(resolve => {
    child.once("close", (code, by) => {
      signal?.removeEventListener("abort", drop);
      resolve({ code: code ?? undefined, signal: by ?? undefined, errors });
    });
  });
  child.on("error", () => {}); // a kill that came too late
  const read = (take: (chunk: Buffer) => void): Promise<ProcessExit> =>
    new Promise((resolve, reject) => {
      const drain = (): void => {
        try {
          for (let chunk = stdout.read(); chunk !== null; chunk = stdout.read()) take(chunk);
        } catch (error) {
          kill();
          stdout.destroy();
          reject(error);
        }
      };
      stdout.on("readable", drain);
      drain();
      exit.then(resolve, reject);
    });
  return {
    pid,
    output: stdout,
    get waiting() {
      return stdout.readableLength;
    },
    read,
    exit,
    kill,
    drop,
  };
}

function failure(command: string, error: unknown): Fault<"spawn_failed"> {
  const errno = error instanceof Error && "code" in error ? String(error.code) : "unknown";
  return new Fault("spawn_failed", { command, errno }, { cause: error });
}
