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
   * The program only stands guard over the command: it must not be asked to end (what it guards would be killed
   * at once, without grace), it tells on descriptor 3 how the command ended (`"exit-code"`), if ever it began,
   * and it exits with 128 + n where signal n ended the command, as shells do.
   */
  readonly warden?: boolean;
  /** Asked now and then: whether the command has used up what it may, and has to be stopped. */
  readonly isExhausted?: () => boolean;
  /** Gives back what the launch took, after everything has ended. */
  readonly release?: () => void;
}

/** What happens to processes in the background when the command itself has ended. */
export type Leftovers = "stop" | "keep";

/** What a sandbox does: it turns a command into a launch that is confined. */
export interface Sandbox {
  launch(
    command: string,
    directory: Directory,
    environment: Environment,
    leftovers: Leftovers,
  ): CommandLaunch;
}

/** Without confinement. Refused by whoever decides, unless the user asked for it in plain words. */
export function launchOpenly(command: string, environment: Environment): CommandLaunch {
  if (!onWindows) return { program: "/bin/sh", args: ["-c", command], environment };
  // /d: no commands from the registry first; /s: only the outer quotes are taken away, the rest stays as it is.
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
