// How a command is started: the program and its arguments. Without a sandbox that is /bin/sh itself, and on Windows
// the system's command interpreter.
import type { Directory } from "../workspace/directory.ts";
import { onWindows } from "../workspace/windows-path.ts";
import type { Environment } from "./environment.ts";

/** A program to start, with all that it gets. */
export interface CommandLaunch {
  readonly program: string;
  readonly args: readonly string[];
  readonly environment: Environment;
  /** Open descriptors that it gets, from 3 on; from 4 on for a warden. */
  readonly descriptors?: readonly number[];
  /**
   * The program is a warden of the command: it must not be asked to end (the command would be killed at once, without
   * grace), it reports on descriptor 3 how the command ended (`"exit-code"`), if it began, and it exits with 128 + n
   * if signal n ended the command, like a shell.
   */
  readonly warden?: boolean;
  /** Called periodically: whether the command has exceeded its limits and must be stopped. */
  readonly isExhausted?: () => boolean;
  /** Releases what only the start needs. */
  readonly begun?: () => void;
  /** Releases the resources of the launch, after everything has ended. */
  readonly release?: () => void;
}

/** What happens to processes in the background when the command itself has ended. */
export type Leftovers = "stop" | "keep";

/** By which a caller may run commands. */
export interface CallerGrant {
  /** Nothing that the caller started may go on. */
  readonly ended: boolean;
  /** Keeps open what the caller works in until the result is disposed of. */
  use(): Disposable;
}

/** Turns a command into a confined launch. */
export interface Sandbox {
  launch(
    command: string,
    directory: Directory,
    environment: Environment,
    leftovers: Leftovers,
  ): CommandLaunch | Promise<CommandLaunch>;
}

/** Without confinement. Refused unless the user explicitly asked for it. */
export function launchOpenly(command: string, environment: Environment): CommandLaunch {
  if (!onWindows) return { program: "/bin/sh", args: ["-c", command], environment };
  // /d: no commands from the registry first; /s: only the outer quotes are removed.
  return {
    program: process.env.ComSpec ?? "cmd.exe",
    args: ["/d", "/s", "/c", `"${command}"`],
    environment,
  };
}

/** The command with both streams as one. */
export function mergedStreams(command: string): string {
  return onWindows ? `(${command}) 2>&1` : `exec 2>&1; ${command}`;
}
