// A command that runs: started by /bin/sh in a directory that is held, in a process group of its own, with
// nothing to read and no descriptor but its three. It ends with everything that it started, and a child that
// keeps the output open holds nobody up.
import { Buffer } from "node:buffer";
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { setImmediate, setTimeout } from "node:timers/promises";
import { Fault } from "../fault.ts";
import type { Directory } from "../workspace/directory.ts";
import { errnoOf } from "../workspace/errno.ts";
import { type Environment, reducedEnvironment } from "./environment.ts";
import { Family } from "./family.ts";
import { type Launch, type Leftovers, launchOpenly, type Sandbox } from "./launch.ts";
import { keepTrack } from "./living.ts";
import { type Exit, exitOfGuarded, hasBegun } from "./warden.ts";

export type Stream = "stdout" | "stderr";

export interface CommandOptions {
  /** Where it runs: this directory, whatever its name leads to by then. */
  readonly directory: Directory;
  /** All variables that it gets. Default: `reducedEnvironment()`. */
  readonly environment?: Environment;
  /** Absent: without confinement. */
  readonly sandbox?: Sandbox;
  /** What happens to processes in the background when the command itself has ended. Default: they are stopped. */
  readonly leftovers?: Leftovers;
}

/** One argument of a program has at most this many bytes on Linux, its closing NUL included. */
const maxCommandBytes = 128 * 1024 - 1;

/** How often a launch is asked whether the command has used up what it may. */
const watchMs = 250;

/** A child that keeps the output open is listened to until it was silent for this long, … */
const silenceMs = 40;
/** … and this many times at most. */
const maxSilences = 25;

export class Command {
  readonly #child: ChildProcess;
  readonly #launch: Launch;
  readonly #family: Family;
  readonly #listen: (chunk: Buffer, stream: Stream) => void;
  #chunks = 0;
  #complaint = "";
  #ranOut = false;
  #stopping: Promise<void> | undefined;
  #graceEnds = Number.POSITIVE_INFINITY;
  /** When it has ended, its output is read, and its leftovers are stopped (or left, as asked). */
  readonly done: Promise<Exit>;

  private constructor(
    child: ChildProcess,
    pid: number,
    launch: Launch,
    mark: string,
    leftovers: Leftovers,
    listen: (chunk: Buffer, stream: Stream) => void,
  ) {
    this.#child = child;
    this.#launch = launch;
    this.#listen = listen;
    this.#family = new Family(pid, mark);
    this.done = this.#untilDone(leftovers);
  }

  /** Faults: `invalid_command`, `spawn_failed`, `no_sandbox`. */
  static async start(
    command: string,
    options: CommandOptions,
    listen: (chunk: Buffer, stream: Stream) => void,
  ): Promise<Command> {
    checkCommand(command);
    const id = randomBytes(8).toString("hex");
    const environment = { ...(options.environment ?? reducedEnvironment()), POLYFS_JOB: id };
    const { directory, sandbox, leftovers = "stop" } = options;
    const launch =
      sandbox?.launch(command, directory, environment, leftovers) ?? launchOpenly(command, environment);
    try {
      const child = spawn(launch.program, launch.args, {
        cwd: directory.address,
        env: launch.environment,
        stdio: [
          "ignore",
          "pipe",
          "pipe",
          ...(launch.warden ? ["pipe" as const] : []),
          ...(launch.descriptors ?? []),
        ],
        detached: true,
      });
      if (child.pid === undefined) throw (await once(child, "error"))[0];
      return new Command(child, child.pid, launch, `POLYFS_JOB=${id}`, leftovers, listen);
    } catch (error) {
      launch.release?.();
      throw new Fault("spawn_failed", { command, errno: errnoOf(error) ?? String(error) }, { cause: error });
    }
  }

  async #untilDone(leftovers: Leftovers): Promise<Exit> {
    const tracked = keepTrack(this.#family);
    const child = this.#child;
    child.on("error", () => {}); // a signal that could not be sent: it has ended
    child.stdout?.on("data", (chunk: Buffer) => this.#hear(chunk, "stdout"));
    child.stderr?.on("data", (chunk: Buffer) => this.#hear(chunk, "stderr"));
    let report = "";
    if (this.#launch.warden) child.stdio[3]?.on("data", (chunk: Buffer) => (report += chunk.toString()));
    const watch = setInterval(() => this.#watch(), watchMs);
    const closed = once(child, "close").then(() => true);
    const exit = await new Promise<Exit>(resolve =>
      child.once("exit", (exitCode, signal) => resolve({ exitCode, signal })),
    );
    clearInterval(watch);
    const stopped = this.#stopping !== undefined;
    await (this.#stopping ?? (leftovers === "stop" ? this.stop(0) : undefined));
    for (let i = 0, heard = -1; i < maxSilences && heard !== this.#chunks; i++) {
      heard = this.#chunks;
      if (await Promise.race([closed, setTimeout(silenceMs, false)])) break;
      // What has come while the loop was busy is delivered before this goes on.
      await setImmediate();
    }
    this.#turnAway();
    this.#launch.release?.();
    if (leftovers === "stop" || this.#family.members().length === 0) tracked[Symbol.dispose]();
    if (!this.#launch.warden) return exit;
    if (!stopped && !hasBegun(exit, report))
      throw new Fault("no_sandbox", { reason: this.#complaint.trim() });
    return exitOfGuarded(exit);
  }

  /** Whether the shell has ended; what it wrote may still be on its way. */
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

  #hear(chunk: Buffer, stream: Stream): void {
    this.#chunks++;
    if (stream === "stderr" && this.#chunks === 1) this.#complaint = chunk.toString("utf8", 0, 1000);
    this.#listen(chunk, stream);
  }

  /** Who still writes writes to nobody: closing the pipe would kill a server that was left to run. */
  #turnAway(): void {
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream === null || stream.destroyed) continue;
      stream.removeAllListeners("data");
      stream.resume();
      if ("unref" in stream && typeof stream.unref === "function") stream.unref();
    }
  }

  /**
   * Ends it with everything that it started: asked first (SIGTERM) where there is grace, then killed. Asked again
   * with less grace, it is killed sooner.
   */
  stop(graceMs: number): Promise<void> {
    this.#graceEnds = Math.min(this.#graceEnds, performance.now() + graceMs);
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    const family = this.#family;
    if (performance.now() < this.#graceEnds) {
      family.signal("SIGTERM", this.#launch.warden ? family.leader : undefined);
      while (performance.now() < this.#graceEnds && family.members().length > 0) await setTimeout(20);
    }
    // Who was forking while we looked is found the next time. What the kernel holds cannot be waited for.
    for (let i = 0; i < 100 && family.signal("SIGKILL") > 0; i++) await setTimeout(Math.min(5 + i, 50));
  }
}

function checkCommand(command: string): void {
  if (command.includes("\0")) throw new Fault("invalid_command", { reason: "nul" });
  if (command.trim() === "") throw new Fault("invalid_command", { reason: "empty" });
  if (Buffer.byteLength(command) > maxCommandBytes)
    throw new Fault("invalid_command", { reason: "too_long" });
}
