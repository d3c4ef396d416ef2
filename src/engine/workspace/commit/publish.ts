// A commit as other machines can repeat it, and the function that publishes it.
import type { By } from "../archive/log.ts";

/** Paths are relative to the root, in written form (name.ts), with "/" between names. */
export type Operation =
  | {
      readonly do: "write";
      readonly at: string;
      readonly hash: string;
      readonly size: number;
      readonly mode: number;
    }
  | { readonly do: "symlink"; readonly at: string; readonly target: string }
  | { readonly do: "mkdir"; readonly at: string; readonly mode: number }
  | { readonly do: "mode"; readonly at: string; readonly mode: number }
  | { readonly do: "remove"; readonly at: string }
  | { readonly do: "copy"; readonly from: string; readonly at: string }
  /** With new content on the way, where it has a hash. */
  | {
      readonly do: "move";
      readonly from: string;
      readonly at: string;
      readonly hash?: string;
      readonly size?: number;
    };

export interface Publication {
  /** The id of the change. */
  readonly id: string;
  readonly by: By;
  readonly operations: readonly Operation[];
  readonly contents: ReadonlyMap<string, Uint8Array>;
  /**
   * The contents that edits were computed from, by path. The log may lack them: programs write into the directory, too.
   */
  readonly bases?: ReadonlyMap<string, Uint8Array>;
}

/** How a commit is published. */
export interface Publishing {
  readonly root: string;
  readonly send: Publish;
  /** The id under which it was published. If it has to start over after that, it keeps the id: others have the change. */
  published?: string;
}

/** Resolves when it is published. Rejects with `Behind` where others were faster, or with a fault. */
export type Publish = (publication: Publication) => Promise<void>;
