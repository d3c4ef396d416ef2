// What a command is confined to. The policy is the roots: a command sees the same part of the disk as the file
// operations.
import type { Workspace } from "../workspace/workspace.ts";
import type { GitIdentity } from "./git-identity.ts";
import type { HiddenPlaces } from "./hidden-places.ts";
import type { CommandLimits } from "./limits.ts";

export interface SandboxPolicy {
  /** Its roots, as granted: read-write ones can be written, read-only ones read. */
  readonly workspace: Workspace;
  /** Whether there is any network, the machine's own loopback included. */
  readonly network: boolean;
  /** More of the disk that may be read: where compilers and runtimes of this user are. */
  readonly readable?: readonly string[];
  /** Absent even inside a root: `secretsOf(home)`, the server's state. */
  readonly hidden?: HiddenPlaces;
  readonly limits?: Partial<CommandLimits>;
  /** The author of Git commits: `await gitIdentity()`. */
  readonly identity?: GitIdentity;
}

/** A sandbox that was tried and works. */
export interface SandboxFound {
  readonly kind: "bubblewrap" | "seatbelt";
  readonly version: string;
  readonly program: string;
  /**
   * Whether roots are passed as handles. Otherwise by path, and a process that can swap a root's path can redirect
   * it.
   */
  readonly bindsHandles: boolean;
  /** Whether commands can be kept from making namespaces of their own. */
  readonly forbidsNamespaces: boolean;
  /** What holds the number of processes. */
  readonly holdsProcesses: "control group" | "user limit" | "nothing";
}

export interface SandboxMissing {
  /** Why there is none. */
  readonly missing: string;
  /** What helps. */
  readonly install: string;
}
