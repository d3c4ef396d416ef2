// The decisions of the person who starts the server, as plain values with the defaults of the contracts.
import type { Access } from "../engine/workspace/root.ts";

/** Limits and choices that hold for every call. */
export interface Settings {
  /** Advertise tools without the dialect's prefix, for clients that refuse dots. */
  readonly plainNames: boolean;
  /** Whether answers carry structured content where a contract has it, and tools the schemas of it. */
  readonly structured: boolean;
  /** The cap on one answer, in bytes, where a contract has a single one. */
  readonly maxOutputBytes: number;
  /** The largest file that is read or edited whole, where a contract has a single limit. */
  readonly maxFileBytes: number;
  /** Default and maximum run time of a command. */
  readonly commandTimeoutMs: number;
  readonly commandTimeoutMaxMs: number;
  /** Whether and how commands run; undefined: as the contract specifies. */
  readonly commands: "none" | "sandboxed" | "unsandboxed" | undefined;
  /** Whether commands in a sandbox may use the network. */
  readonly commandNetwork: boolean;
  /** Whether workspaces are served: forks can be made and merged. */
  readonly workspaces: boolean;
  /** Whether a caller learns only of its own workspace, of its base, and of its forks. */
  readonly ownWorkspaceOnly: boolean;
  /** The id of the workspace that a caller was let into, with its forks; undefined if it may enter all. */
  readonly boundWorkspace: string | undefined;
  /** How a write treats the other hard links of a file. */
  readonly hardLinks: "replace" | "keep";
  /**
   * Access to arbitrary directories, for contracts whose caller chooses one, if none was granted at the start.
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
  boundWorkspace: undefined,
  hardLinks: "replace",
  anyDirectory: undefined,
  workingDirectory: process.cwd(),
  homeDirectory: process.env.HOME ?? process.cwd(),
};
