// What became of each change, first as the plan foresees it, then as callers and listeners see it.
import { constants } from "node:fs";
import { Fault, type Kind } from "../../fault.ts";
import type { Identity } from "../archive/log.ts";
import { Directory } from "../directory.ts";
import { system } from "../errno.ts";
import { Handle } from "../handle.ts";
import type { WorkspacePath } from "../path.ts";
import type { Root } from "../root.ts";
import type { Changed, Content, Effect } from "./change.ts";
import type { Places, Spot } from "./place.ts";
import type { Range } from "./step.ts";
import { readAll, sys } from "./syscalls.ts";
import type { Target } from "./target.ts";

/** Content that is at hand, or stands at a spot. */
export interface Held {
  readonly kind: Kind;
  readonly size: number;
  readonly mode: number | undefined;
  readonly bytes?: Uint8Array;
  readonly spot?: Spot;
  /** Where the journal holds the bytes. */
  readonly blob?: Range;
  readonly modified?: Date;
  /** Where a link points. */
  readonly target?: string;
}

interface Foreseen {
  readonly effect: Effect;
  readonly kind: Kind;
  readonly otherNames: number;
  readonly source?: { readonly path: WorkspacePath; readonly at: string };
  readonly before?: Held;
  readonly after?: Held;
  /** A move that also changed the content: `before` is what was moved, not what was replaced. */
  readonly edited?: boolean;
  /** What a move takes to its place, where it is not copied. */
  readonly moved?: Identity;
}

export type Outcome = Foreseen & ({ readonly change: Target } | { readonly root: WorkspacePath });

export function changedBy(outcome: Outcome, places: Places): Changed {
  const path = "root" in outcome ? outcome.root : outcome.change.path;
  const at = "root" in outcome ? outcome.root.absolute : outcome.change.at;
  const { effect, kind, otherNames, source, before, after } = outcome;
  return {
    path,
    at,
    effect,
    kind,
    otherNames,
    ...(source && { from: source }),
    ...(before && { before: contentOf(before, path, at, places) }),
    ...(after && { after: contentOf(after, path, at, places) }),
  };
}

function contentOf(held: Held, path: WorkspacePath, at: string, places: Places): Content {
  const { spot, bytes } = held;
  const gone = () => new Fault("not_found", { path: path.given });
  const plain = held.kind === "directory" ? 0o777 : 0o666;
  return {
    kind: held.kind,
    size: held.size,
    mode: held.mode ?? plain & ~process.umask(),
    ...(held.modified !== undefined && { modified: held.modified }),
    ...(held.target !== undefined && { target: held.target }),
    bytes: async () => {
      if (bytes === undefined && spot === undefined) throw gone();
      const whole = bytes ?? system(path.given, () => fileAt(places, spot as Spot));
      return path.root.rules.shown(at, Buffer.from(whole.buffer, whole.byteOffset, whole.length), path.given);
    },
    directory: () => {
      if (spot === undefined) throw gone();
      const handle = system(path.given, () => Handle.open(places.address(spot), { follow: false }));
      const root: Root = path.root;
      return Directory.open({ handle, root, path: at }, path.given);
    },
  };
}

function fileAt(places: Places, spot: Spot): Buffer {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const fd = sys.open(places.address(spot), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    return readAll(fd);
  } finally {
    sys.close(fd);
  }
}
