// How a command is started: the program and its arguments. Without a sandbox that is /bin/sh itself.
import type { Directory } from "../workspace/directory.ts";
import type { Environment } from "./environment.ts";

/** A program to start, with all that it gets. */
export interface Launch {
  readonly program: string;
  readonly args: readonly string[];
  readonly environment: Environment;
  /** Open descriptors that it gets as 3, 4, … */
  readonly descriptors?: readonly number[];
  /**
   * The program only stands guard over the command: it must not be asked to end (what it guards would be killed
   * at once, without grace), and it tells on its last descriptor whether the command began.
   */
  readonly warden?: boolean;
  /** Gives back what the launch took, after everything has ended. */
  readonly release?: () => void;
}

/** What a sandbox does: it turns a command into a launch that is confined. */
export interface Sandbox {
  launch(command: string, directory: Directory, environment: Environment): Launch;
}

/** Without confinement. Refused by whoever decides, unless the user asked for it in plain words. */
export function launchOpenly(command: string, environment: Environment): Launch {
  return { program: "/bin/sh", args: ["-c", command], environment };
}
