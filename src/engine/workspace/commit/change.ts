// Changes as callers ask for them, and the result of a commit. `Workspace.commit` applies a list of changes
// completely or not at all.

import type { Kind } from "../../fault.ts";
import type { Allowed } from "../../policy/approval.ts";
import type { By, ChangeEffect } from "../archive/log.ts";
import type { Directory } from "../directory.ts";
import type { WorkspacePath } from "../path.ts";
import type { TextOrigin } from "../rules.ts";
import type { Publishing } from "./publish.ts";

/**
 * What a change was computed from. Bytes: the file must still hold exactly these. A function: called with the current
 * bytes. "absent": the path must not exist. Left out: the last writer wins.
 */
export type Expectation = Uint8Array | ((bytes: Buffer) => boolean) | "absent";

/** One change of a commit. Paths come from `workspace.at()`. */
export type Change =
  | {
      readonly kind: "write";
      readonly path: WorkspacePath;
      readonly bytes: Uint8Array;
      readonly expect?: Expectation;
      /** Permission bits. Default: those of the existing file, or the system's default for new files. */
      readonly mode?: number;
      /** Modification time to restore. */
      readonly modified?: Date;
      /**
       * For `unmasked`: the texts that the bytes are made of, with their paths. Left out: they were at this path before.
       *
       * @internal
       */
      readonly origins?: readonly TextOrigin[];
    }
  | {
      /** A later change of the same commit may take the name. */
      readonly kind: "remove";
      readonly path: WorkspacePath;
      /** Without it, a directory must be empty. */
      readonly recursive?: boolean;
      readonly expect?: Expectation;
    }
  | {
      readonly kind: "move";
      readonly from: WorkspacePath;
      readonly to: WorkspacePath;
      /** Replace an existing file. */
      readonly overwrite?: boolean;
      /** New content: a move and an edit in one step. Mode and owner stay. */
      readonly bytes?: Uint8Array;
      /** About the file that is moved. */
      readonly expect?: Expectation;
      /** As for a write; without new content, the file itself. @internal */
      readonly origins?: readonly TextOrigin[];
    }
  | {
      readonly kind: "copy";
      readonly from: WorkspacePath;
      readonly to: WorkspacePath;
      readonly overwrite?: boolean;
    }
  | { readonly kind: "mkdir"; readonly path: WorkspacePath; readonly mode?: number }
  /** Other permission bits for a directory. */
  | { readonly kind: "mode"; readonly path: WorkspacePath; readonly mode: number }
  | {
      readonly kind: "symlink";
      readonly path: WorkspacePath;
      /** In written form (name.ts). It may lead anywhere; following it is another matter. */
      readonly target: string;
    };

/** A file as an edit reads it; `bytes` is undefined if the file does not exist. */
export interface Current {
  readonly path: WorkspacePath;
  readonly bytes: Buffer | undefined;
}

/** How a commit treats parents, links and irrevocable changes, and who makes it. */
export interface CommitOptions {
  readonly by?: By;
  /** Create missing parent directories. Default false: `parent_not_found`. */
  readonly parents?: boolean;
  /**
   * A name under which something may be created: exactly that one (default), or an existing one that is the same text
   * in another Unicode normal form.
   */
  readonly unicodeForms?: "exact" | "either";
  /** A write to a symbolic link: change its target (default), or refuse (`is_a_link`). */
  readonly links?: "follow" | "refuse";
  /** A write to a file with other names: this name only (default), or all of them, by rewriting it in place. */
  readonly hardLinks?: "replace" | "keep";
  /** "allow": also remove and replace what undo could not restore. Default: refuse with `irrevocable`. */
  readonly irrevocable?: "refuse" | "allow";
  /** What a person has allowed for this commit. @internal */
  readonly approved?: readonly Allowed[] | undefined;
  /**
   * The bytes are those that are to be on the disk, also for files that a rule masks: only history has such.
   *
   * @internal
   */
  readonly unmasked?: boolean;
  readonly signal?: AbortSignal;
  /** The largest file that an edit reads. Faults: `too_large`. Default: no limit. */
  readonly maxBytes?: number;
  /** Called under the locks of the commit, before it begins. Throws if the commit must not happen. @internal */
  readonly confirm?: () => Promise<void>;
  /** Called when nothing can refuse the commit any more, and before it happens. @internal */
  readonly publish?: Publishing | undefined;
  /** The id of the change, where another machine has made it. @internal */
  readonly id?: string;
}

/** The state of a path before or after a change. `before` can be read only while listeners run. */
export interface FileState {
  readonly kind: Kind;
  readonly size: number;
  readonly mode: number;
  readonly modified?: Date;
  /** Where a symbolic link points. */
  readonly target?: string;
  /** The bytes of a file. */
  bytes(): Promise<Buffer>;
  /** A directory, held open; the caller closes it. */
  directory(): Directory;
}

/** What became of one Change. */
export interface ChangedFile {
  /** As the caller named it; for moves and copies the destination. */
  readonly path: WorkspacePath;
  /** The canonical path, links resolved. */
  readonly at: string;
  readonly effect: ChangeEffect;
  readonly kind: Kind;
  /** Where a move or a copy took it from. */
  readonly from?: { readonly path: WorkspacePath; readonly at: string };
  readonly before?: FileState;
  readonly after?: FileState;
  /** How many other names the file has (hard links): with "replace" they keep the old bytes. */
  readonly otherNames: number;
}

/** A commit that was made: all of its changes, or none would have been. */
export interface Commit {
  readonly id: string;
  readonly time: Date;
  readonly by: By;
  /** One for each Change, in order. */
  readonly files: readonly ChangedFile[];
  /** Directories that were made because they were missing, outermost first. */
  readonly parents: readonly string[];
  /** Whether the archive has all that undo needs. */
  readonly recorded: boolean;
}

/** Called after a commit is applied and before the old bytes are removed; the answer waits for it. */
export type CommitListener = (commit: Commit) => void | Promise<void>;
