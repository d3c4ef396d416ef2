// Runs a command to its end, in bounded time and memory. How it ended is a value; a fault means that it never began.
import { clock } from "../clock.ts";
import { Capture, type Captured, type Keep } from "./capture.ts";
import { Command, type CommandOptions } from "./command.ts";
import type { OutputListener } from "./stream.ts";
import type { WardenExit } from "./warden.ts";

export interface RunOptions extends CommandOptions {
  /** Bytes kept of each stream. */
  readonly keep: Keep;
  /** How many bytes a stream may have; a command that writes more is stopped. Default: no bound. */
  readonly ceiling?: number;
  /** Default: no bound. */
  readonly timeoutMs?: number;
  /** How long a command whose time is over may take to end (SIGTERM) before it is killed. Default 2 s. */
  readonly graceMs?: number;
  /** Kills the command. */
  readonly signal?: AbortSignal;
  /** Receives all output up to the ceiling, including what is not kept. */
  readonly sink?: OutputListener;
  readonly progress?: CommandProgress;
}

/** Progress reports: the end of the output so far, periodically. */
export interface CommandProgress {
  readonly everyMs: number;
  readonly bytes: number;
  tell(tail: string, milliseconds: number): void;
}

/** What ended a command: itself, or what stopped it. */
export type CommandEnding = "exit" | "timeout" | "cancel" | "output_limit" | "disk_full";

export interface RunResult extends WardenExit {
  readonly ended: CommandEnding;
  readonly stdout: Captured;
  readonly stderr: Captured;
  readonly milliseconds: number;
}

/** Faults: `invalid_command`, `spawn_failed`, `no_sandbox`. */
export async function run(command: string, options: RunOptions): Promise<RunResult> {
  const { keep, ceiling = Number.POSITIVE_INFINITY, timeoutMs, graceMs = 2000, signal, progress } = options;
  const captures = { stdout: new Capture(keep), stderr: new Capture(keep) };
  const latest = new Capture({ head: 0, tail: progress?.bytes ?? 0 });
  const started = clock();
  const elapsed = () => Math.round(clock() - started);
  let ended: CommandEnding = "exit";
  let running: Command | undefined;
  let stopping: Promise<void> | undefined;

  function stop(reason: CommandEnding, grace: number): void {
    if (running === undefined || running.hasExited) return;
    if (ended === "exit") ended = reason;
    stopping = running.stop(grace);
  }
  const listen: OutputListener = (chunk, stream) => {
    const capture = captures[options.merged ? "stdout" : stream];
    const rest = ceiling - capture.bytes;
    const part = chunk.length > rest ? chunk.subarray(0, rest) : chunk;
    capture.push(part);
    latest.push(part);
    if (part.length < chunk.length) stop("output_limit", 0);
    return part.length === 0 ? undefined : options.sink?.(part, stream);
  };
  const cancel = () => stop("cancel", 0);

  let exit: WardenExit = { exitCode: null, signal: null };
  if (signal?.aborted) ended = "cancel";
  else {
    running = await Command.start(command, options, listen);
    signal?.addEventListener("abort", cancel);
    if (signal?.aborted) cancel();
    const timer = timeoutMs === undefined ? undefined : setTimeout(stop, timeoutMs, "timeout", graceMs);
    const ticker = progress && tellNowAndThen(progress, latest, elapsed);
    try {
      exit = await running.done;
      await stopping;
      if (running.ranOutOfSpace) ended = "disk_full";
    } finally {
      clearTimeout(timer);
      clearInterval(ticker);
      signal?.removeEventListener("abort", cancel);
    }
  }
  return {
    ...exit,
    ended,
    stdout: captures.stdout.captured(),
    stderr: captures.stderr.captured(),
    milliseconds: elapsed(),
  };
}

function tellNowAndThen(progress: CommandProgress, latest: Capture, elapsed: () => number): NodeJS.Timeout {
  let told = 0;
  const ticker = setInterval(() => {
    if (latest.bytes === told) return;
    told = latest.bytes;
    const { head, tail } = latest.captured();
    try {
      progress.tell(head + tail, elapsed());
    } catch {
      clearInterval(ticker); // the receiver is gone; the command continues
    }
  }, progress.everyMs);
  return ticker;
}
