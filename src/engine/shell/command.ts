// A running command: started by /bin/sh in a held directory, in its own process group, without input and with no
// descriptors but its three. It ends with everything that it started, and a child that keeps the output open delays
// nothing.
import { Buffer } from "node:buffer";
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { clock } from "../clock.ts";
import { Fault } from "../fault.ts";
import { type Span, startSpan } from "../span.ts";
import type { Directory } from "../workspace/directory.ts";
import { errnoOf } from "../workspace/errno.ts";
import { onWindows } from "../workspace/windows-path.ts";
import { type Environment, reducedEnvironment } from "./environment.ts";
import { Family } from "./family.ts";
import {
  type CallerGrant,
  type CommandLaunch,
  type Leftovers,
  launchOpenly,
  mergedStreams,
  type Sandbox,
} from "./launch.ts";
import { keepTrack, releaseAtEnd, type Tracked } from "./living.ts";
import { OutputPump } from "./output.ts";
import type { OutputListener } from "./stream.ts";
import { exitOfGuarded, firstProcess, hasBegun, type WardenExit } from "./warden.ts";

export interface CommandOptions {
  /** Its working directory, whatever the name leads to. */
  readonly directory: Directory;
  /** All variables that it gets. Default: `reducedEnvironment()`. */
  readonly environment?: Environment;
  /** Absent: without confinement. */
  readonly sandbox?: Sandbox;
  /** What happens to processes in the background when the command itself has ended. Default: they are stopped. */
  readonly leftovers?: Leftovers;
  /** What was left to run in the background uses it, and ends with it. */
  readonly grant?: CallerGrant | undefined;
  /** Both streams as one, in the order in which they were written. Only complaints of the shell itself come apart. */
  readonly merged?: boolean;
}

/** One argument of a program has at most 128 KB on Linux; a little of it is ours. */
const maxCommandBytes = 128 * 1024 - 100;

/** How often a launch is asked whether the command has exceeded its limits. */
const watchMs = 250;

export class Command {
  readonly #child: ChildProcess;
  readonly #launch: CommandLaunch;
  readonly #family: Family;
  readonly #output: OutputPump;
  #ranOut = false;
  #stopping: Promise<void> | undefined;
  #graceEnds = Number.POSITIVE_INFINITY;
  /** When it has ended, its output is read, and its leftovers are stopped (or left, as asked). */
  readonly done: Promise<WardenExit>;

  private constructor(
    child: ChildProcess,
    pid: number,
    launch: CommandLaunch,
    mark: string,
    { leftovers = "stop", grant }: CommandOptions,
    listen: OutputListener,
  ) {
    this.#child = child;
    this.#launch = launch;
    this.#family = new Family(pid, mark);
    this.#output = new OutputPump(child, listen, () => void this.stop(0));
    this.done = this.#untilDone(leftovers, grant);
  }

  /** Faults: `invalid_command`, `spawn_failed`, `no_sandbox`. */
  static async start(command: string, options: CommandOptions, listen: OutputListener): Promise<Command> {
    checkCommand(command);
    const span = startSpan("command");
    const id = randomBytes(8).toString("hex");
    const mark = { POLYFS_JOB: id };
    const environment = { ...(options.environment ?? reducedEnvironment()), ...mark };
    const { directory, sandbox, leftovers = "stop", merged = false } = options;
    const line = merged ? mergedStreams(command) : command;
    const launch =
      sandbox === undefined
        ? launchOpenly(line, environment)
        : await sandbox.launch(line, directory, environment, leftovers);
    try {
      const child = spawn(launch.program, launch.args, {
        cwd: directory.currentPath(),
        env: { ...launch.environment, ...mark }, // a warden forks, too, and may be killed while it does
        stdio: [
          "ignore",
          "pipe",
          "pipe",
          ...(launch.warden ? ["pipe" as const] : []),
          ...(launch.descriptors ?? []),
        ],
        detached: !onWindows, // there it would mean a console of its own
        windowsHide: true,
        windowsVerbatimArguments: onWindows,
      });
      if (child.pid === undefined) throw (await once(child, "error"))[0];
      launch.begun?.(); // it has descriptors of its own
      const started = new Command(child, child.pid, launch, `POLYFS_JOB=${id}`, options, listen);
      if (span !== undefined) void endWith(span, started.done);
      return started;
    } catch (error) {
      span?.fail(error);
      span?.[Symbol.dispose]();
      launch.release?.();
      throw new Fault("spawn_failed", { command, errno: errnoOf(error) ?? String(error) }, { cause: error });
    }
  }

  async #untilDone(leftovers: Leftovers, grant?: CallerGrant): Promise<WardenExit> {
    const tracked = keepTrack(this.#family);
    const child = this.#child;
    child.on("error", () => {}); // a signal that could not be sent: it has ended
    const report = this.#launch.warden ? readReport(child, tracked) : undefined;
    const watch = this.#launch.isExhausted && setInterval(() => this.#watch(), watchMs).unref();
    const exit = await new Promise<WardenExit>(resolve =>
      child.once("exit", (exitCode, signal) => resolve({ exitCode, signal })),
    );
    const said = await report;
    const stopped = this.#stopping !== undefined;
    await (this.#stopping ?? (leftovers === "stop" ? this.stop(0) : undefined));
    try {
      await this.#output.end();
    } finally {
      clearInterval(watch);
      const isStopped = this.#stopping !== undefined;
      releaseAtEnd({ family: this.#family, tracked, launch: this.#launch, grant, stopped: isStopped });
    }
    if (said === undefined) return exit;
    if (!stopped && !hasBegun(exit, said))
      throw new Fault("no_sandbox", { problem: { is: "message", message: this.#output.complaint.trim() } });
    return exitOfGuarded(exit);
  }

  /** Whether the shell has ended; its output may still be in transit. */
  get hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  #watch(): void {
    if (!this.#launch.isExhausted?.()) return;
    this.#ranOut = true;
    void this.stop(0);
  }

  /** Whether it was stopped because it had taken nearly all of the disk. */
  get ranOutOfSpace(): boolean {
    return this.#ranOut;
  }

  /**
   * Ends it with everything that it started: SIGTERM first if there is a grace period, then SIGKILL. A second call
   * with less grace kills it sooner.
   */
  stop(graceMs: number): Promise<void> {
    this.#graceEnds = Math.min(this.#graceEnds, clock() + graceMs);
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    const family = this.#family;
    if (clock() < this.#graceEnds) {
      family.signal("SIGTERM", this.#launch.warden ? family.leader : undefined);
      while (clock() < this.#graceEnds && family.lives()) await setTimeout(20);
    }
    // Processes that were forking are found in the next round. A process stuck in the kernel is not waited for.
    for (let i = 0; i < 100 && family.signal("SIGKILL"); i++) await setTimeout(Math.min(5 + i, 50));
  }
}

/**
 * All that a warden reports. The command can reach the first process of its namespace: it can erase the mark from its
 * environment, and make it outlive the warden. So that process is followed by its number.
 */
async function readReport({ stdio }: ChildProcess, tracked: Tracked): Promise<string> {
  let report = "";
  let first: number | undefined;
  for await (const chunk of stdio[3] as Readable) {
    report += chunk;
    if (first !== undefined) continue;
    first = firstProcess(report);
    if (first !== undefined) tracked.admit(first);
  }
  return report;
}

async function endWith(span: Span, done: Promise<WardenExit>): Promise<void> {
  using running = span;
  try {
    const { exitCode, signal } = await done;
    running.set("ended_by", signal ?? "exit");
    if (exitCode !== null) running.set("exit_code", exitCode);
  } catch (error) {
    running.fail(error);
  }
}

function checkCommand(command: string): void {
  if (command.includes("\0")) throw new Fault("invalid_command", { reason: "nul" });
  if (command.trim() === "") throw new Fault("invalid_command", { reason: "empty" });
  if (Buffer.byteLength(command) > maxCommandBytes)
    throw new Fault("invalid_command", { reason: "too_long" });
}
