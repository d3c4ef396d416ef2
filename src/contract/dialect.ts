// A dialect: a table of tools, the wording of failures, and the channel for reporting them.
import type { Fault } from "../engine/fault.ts";
import type { CallContext } from "./context.ts";
import type { Reply, Tool } from "./tool.ts";
import type { Wording } from "./wording.ts";

/** A failure that travels as a protocol error instead of a result. */
export interface ProtocolError {
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** The result of a call: a reply of the tool, a failure as a reply, or a protocol error. */
export type Outcome = Reply | ProtocolError;

/** Where a fault happened: the tool (absent if it does not exist), what it was given, and the caller's revision. */
export interface Site {
  readonly tool?: Tool;
  /** Not checked. */
  readonly params?: unknown;
  readonly revision: string;
}

/** A set of tools with its words: what a server offers. */
export interface Dialect {
  readonly name: string;
  readonly title: string;
  /** One line for `--help`. */
  readonly summary: string;
  /** Put before each tool's name in lists (`fs.`). Calls are accepted with and without it. */
  readonly prefix?: string;
  readonly tools: readonly Tool[];
  readonly wording: Wording;
  /** Whether the built-in rules about credentials hold where no policy is given. */
  readonly defaultPolicy?: boolean;
  /** Whether the files are offered as resources, too. */
  readonly resources?: boolean;
  /** Instructions for the model; under 2 KB, where clients truncate. */
  readonly instructions?: string;
  /**
   * Which roots serve when the command line names none: the working directory, the client's roots, whichever
   * directory the caller chooses, or none.
   */
  readonly withoutRoots: "working-directory" | "client-roots" | "callers-choice" | "none" | "usage";
  /** The most directories that the start may name. By default there is no limit. */
  readonly maxRoots?: number;
  /** What to do if a directory named at the start does not exist: fail (default), or nothing. */
  readonly missingRoots?: "skip";
  /** Whether the client's roots narrow the directories that the command line names. By default they do not count then. */
  readonly narrowedByClient?: boolean;
  /** Tells a fault in the contract's words, by the contract's channel. */
  failure(fault: Fault, site: Site): Outcome;
  /** Whether a tool is in the list at all for this caller; by default every tool is. */
  offers?(tool: Tool, context: Pick<CallContext, "workspace" | "settings">): boolean;
}
