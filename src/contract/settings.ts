// What the person who starts the server decides, as plain values with the defaults that the contracts publish.
import type { Access } from "../engine/workspace/root.ts";

export interface Settings {
  /** Advertise tools without the dialect's prefix, for clients that refuse dots. */
  readonly plainNames: boolean;
  /** Whether answers carry structured content where a contract has it, and tools the schemas of it. */
  readonly structured: boolean;
  /** The cap on one answer, in bytes, where a contract has a single one. */
  readonly maxOutputBytes: number;
  /** The largest file that is read or edited whole, where a contract has a single limit. */
  readonly maxFileBytes: number;
  /** How long a command may run where the caller does not say, and where it does. */
  readonly commandTimeoutMs: number;
  readonly commandTimeoutMaxMs: number;
  /** Whether commands run, and how; undefined where nobody decided: as the contract has it. */
  readonly commands: "none" | "sandboxed" | "unsandboxed" | undefined;
  /** Whether commands in a sandbox may use the network. */
  readonly commandNetwork: boolean;
  /** Whether workspaces are served: forks can be made and merged. */
  readonly workspaces: boolean;
  /** Whether a caller is told only of its own workspace, of that one's base, and of its forks. */
  readonly ownWorkspaceOnly: boolean;
  /** What a write does to the other names of a file. */
  readonly hardLinks: "replace" | "keep";
  /**
   * How any directory at all may be used, where the contract lets its caller choose one and the start names none.
   * Undefined: only what is granted.
   */
  readonly anyDirectory: Access | undefined;
  /** The directory against which relative paths of some contracts are resolved, and `~`. */
  readonly workingDirectory: string;
  readonly homeDirectory: string;
}

export const defaultSettings: Settings = {
  plainNames: false,
  structured: true,
  maxOutputBytes: 131_072,
  maxFileBytes: 20_000_000,
  commandTimeoutMs: 120_000,
  commandTimeoutMaxMs: 600_000,
  commands: undefined,
  commandNetwork: false,
  workspaces: false,
  ownWorkspaceOnly: false,
  hardLinks: "replace",
  anyDirectory: undefined,
  workingDirectory: process.cwd(),
  homeDirectory: process.env.HOME ?? process.cwd(),
};
