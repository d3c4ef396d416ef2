// The effect of a commit in a form that other machines can repeat: operations on paths below the root, in order, with
// contents by their hash. A workspace that has replicas publishes it after everything is staged and compared, and
// before the commit takes effect: a commit that could not be published has not happened on any machine.

import type { Fault } from "../../fault.ts";
import { contentHash } from "../../text/version.ts";
import type { By } from "../archive/log.ts";
import type { PlannedEffect } from "./planned-effect.ts";
import type { Operation, Publication, Publish } from "./publish.ts";

/** Others have published first. The commit has not happened, and may start over when their changes are here. */
export class Behind extends Error {
  override readonly name = "Behind";
}

/** Whether an absolute path is among those that a command changed, above or below one. */
export type OwnPaths = (path: string) => boolean;

/** What one command did. */
export interface OwnChange {
  readonly id?: string | undefined;
  readonly own?: OwnPaths | undefined;
}

/** What shares a workspace with other machines. */
export interface Replication {
  /** The directory that is shared, absolute. */
  readonly root: string;
  /** The name of this copy, for people. */
  readonly replica: string;
  /**
   * Runs writes one at a time, and repeats one that another machine preceded. `maxBytes`: the size in the store that the
   * caller may let the workspace grow to. Faults: `store_unavailable`.
   */
  write<T>(attempt: (publish: Publish) => Promise<T>, maxBytes?: number): Promise<T>;
  /**
   * Finds what was changed without a commit, by a command, and publishes it. `change`: only this, under its id, also if
   * that succeeds later. Without it: everything, before the command is answered. The id of the change, if there is one.
   */
  publishChanges(by: By, maxBytes?: number, change?: OwnChange): Promise<string | undefined>;
  /**
   * To be called when a command begins. `overlapped` is called with each file in which something that was not published
   * gave way to what another machine wrote in the same place; the path is relative to the root. `onlyHere` is called with
   * the id of each change of a command, this one's or another's, that the shared log has nothing under. That may be found
   * late, when the store is back and the files have changed again. Returns what is to be called at its end.
   */
  commandRuns(by: By, overlapped: (at: string) => void, onlyHere?: (id: string) => void): () => void;
  /**
   * Pulls what others have published, before a read. `files`: the only files that will be read, each as the paths that
   * may name it, in order of preference.
   */
  refresh(effect: "reads" | "writes", files?: readonly (readonly string[])[]): Promise<void>;
  /** The number of changes that are here. */
  readonly revision: number;
  /** How much this process has added to the store. */
  readonly publishedBytes: number;
  /** How much the workspace holds in the store, as far as is known here. */
  readonly storedBytes: number;
  /** How fast that grows, over the last hour. */
  readonly bytesPerHour: number;
  /** How old the copy is, where it does not follow the log; undefined if it did at the last question. */
  readonly staleMs: number | undefined;
  /** Why: `store_unavailable`, or a fault of this machine. */
  readonly staleCause: Fault | undefined;
  /** How many commands have changes here that wait for the store. */
  readonly waitingCommands: number;
}

export function publicationOf(
  id: string,
  by: By,
  outcomes: readonly PlannedEffect[],
  parents: readonly string[],
  root: string,
): Publication {
  const contents = new Map<string, Uint8Array>();
  const bases = new Map<string, Uint8Array>();
  const below = (path: string) => path.slice(root === "/" ? 1 : root.length + 1);
  const kept = (bytes: Uint8Array): string => {
    const hash = contentHash(bytes);
    contents.set(hash, bytes);
    return hash;
  };
  const umask = process.umask();
  const made = parents.map((at): Operation => ({ do: "mkdir", at: below(at), mode: 0o777 & ~umask }));
  const operations = outcomes.flatMap((outcome): Operation[] => {
    if ("root" in outcome || outcome.effect === "none") return [];
    const { effect, kind, source, after } = outcome;
    const at = below(outcome.change.at);
    if (effect === "removed") return [{ do: "remove", at }];
    const bytes = after?.bytes;
    if (source !== undefined && effect === "copied") return [{ do: "copy", from: below(source.at), at }];
    if (source !== undefined && effect === "moved") {
      const content = outcome.edited && bytes !== undefined ? { hash: kept(bytes), size: bytes.length } : {};
      return [{ do: "move", from: below(source.at), at, ...content }];
    }
    if (kind === "file" && bytes !== undefined) {
      const mode = after?.mode ?? 0o666 & ~umask;
      if (outcome.base) bases.set(at, outcome.base);
      return [{ do: "write", at, hash: kept(bytes), size: bytes.length, mode }];
    }
    if (kind === "symlink") return [{ do: "symlink", at, target: after?.target ?? "" }];
    const mode = after?.mode ?? 0o777 & ~umask;
    return [{ do: effect === "created" ? "mkdir" : "mode", at, mode }];
  });
  return { id, by, operations: [...made, ...operations], contents, bases };
}
