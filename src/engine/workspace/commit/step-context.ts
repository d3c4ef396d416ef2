// What the steps of a commit need besides themselves.

import type { ByteRange } from "../archive/pending-record.ts";
import type { HeldDirectories } from "../disk/held-directories.ts";

/** Inode numbers are reused: a number alone may belong to another directory. */
export interface NewDirectory {
  readonly inode: number;
  readonly born: number;
}

/** The context that steps run in. */
export interface StepContext {
  readonly places: HeldDirectories;
  /** For each step, the inode of the moved entry, or of the copy of the dismantled one. */
  readonly inodes: readonly number[];
  readonly blob: (range: ByteRange) => Uint8Array;
  /** A single step can be rolled back without content kept aside. */
  readonly single: boolean;
  /**
   * The entries, by their key, whose content was compared with what the commit was computed from: they are replaced
   * only if nothing has written into them since.
   */
  readonly compared?: ReadonlySet<string>;
  /**
   * The directories that this process has made, by their steps, with their identity as far as it is known; absent in
   * recovery, which takes empty ones for its own.
   */
  readonly made?: Map<unknown, NewDirectory | undefined> | undefined;
  /** Whether the machine may have lost power since: then a file can hold less than was written to it. */
  readonly powerCut: boolean;
}
