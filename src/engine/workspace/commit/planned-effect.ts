// What became of each change, first as the plan foresees it, then as callers and listeners see it.

import { constants } from "node:fs";
import { Fault, type Kind } from "../../fault.ts";
import type { ChangeEffect, Identity } from "../archive/log.ts";
import type { ByteRange } from "../archive/pending-record.ts";
import { Directory } from "../directory.ts";
import type { EntryRef, HeldDirectories } from "../disk/held-directories.ts";
import { readAll, sys } from "../disk/syscalls.ts";
import { system } from "../errno.ts";
import { Handle } from "../handle.ts";
import type { WorkspacePath } from "../path.ts";
import type { Root } from "../root.ts";
import type { ChangedFile, FileState } from "./change.ts";
import type { Target } from "./target.ts";

/** Content in memory, or at an entry. */
export interface ContentSource {
  readonly kind: Kind;
  readonly size: number;
  readonly mode: number | undefined;
  readonly bytes?: Uint8Array;
  readonly entry?: EntryRef;
  /** Where the journal holds the bytes. */
  readonly blob?: ByteRange;
  readonly modified?: Date;
  /** Where a link points. */
  readonly target?: string;
}

interface PlannedEffectBase {
  readonly effect: ChangeEffect;
  readonly kind: Kind;
  readonly otherNames: number;
  readonly source?: { readonly path: WorkspacePath; readonly at: string };
  readonly before?: ContentSource;
  readonly after?: ContentSource;
  /** The content that an edit was computed from. */
  readonly base?: Buffer;
  /** A move that also changed the content: `before` is the moved content, not the replaced one. */
  readonly edited?: boolean;
  /** The identity of what a move takes to its destination, if it is not copied. */
  readonly moved?: Identity;
}

export type PlannedEffect = PlannedEffectBase &
  ({ readonly change: Target } | { readonly root: WorkspacePath });

export function changedFile(outcome: PlannedEffect, places: HeldDirectories): ChangedFile {
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

function contentOf(held: ContentSource, path: WorkspacePath, at: string, places: HeldDirectories): FileState {
  const { entry, bytes } = held;
  const gone = () => new Fault("not_found", { path: path.given });
  const plain = held.kind === "directory" ? 0o777 : 0o666;
  return {
    kind: held.kind,
    size: held.size,
    mode: held.mode ?? plain & ~process.umask(),
    ...(held.modified !== undefined && { modified: held.modified }),
    ...(held.target !== undefined && { target: held.target }),
    bytes: async () => {
      if (bytes === undefined && entry === undefined) throw gone();
      const whole = bytes ?? system(path.given, () => fileAt(places, entry as EntryRef));
      return path.root.rules.shown(at, Buffer.from(whole.buffer, whole.byteOffset, whole.length), path.given);
    },
    directory: () => {
      if (entry === undefined) throw gone();
      const handle = system(path.given, () => Handle.open(places.address(entry), { follow: false }));
      const root: Root = path.root;
      return Directory.open({ handle, root, path: at }, path.given);
    },
  };
}

function fileAt(places: HeldDirectories, entry: EntryRef): Buffer {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const fd = sys.open(places.address(entry), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    return readAll(fd);
  } finally {
    sys.close(fd);
  }
}
