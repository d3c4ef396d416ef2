// Puts a disk that a power cut has left where the recorded one was, with a map by which a server sees the inodes and
// times that files had then.
import {
  chmodSync,
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Disk } from "./outage.ts";
import type { Recording, Thing } from "./recording.ts";
import type { Recorded } from "./saved-cut.ts";

/** How a file is shown: its former inode, and its former time of change until it changes again. */
interface Shown {
  readonly ino: number;
  readonly now: number;
  readonly mtime: number;
  readonly born: number;
}

export interface PutBack extends Disposable {
  /** For `PROOF_POWER_MAP`: how files are shown, by their inodes now. */
  readonly map: string;
  /** What was recorded since, as if the files had the inodes that they are shown with. */
  asShown(recording: Recording): Recorded;
}

/** Until it is disposed of, no inode is given again: one would be shown as that of the file which had it. */
export function putBack({ base, root }: Recorded, { files }: Disk): PutBack {
  rmSync(base, { recursive: true, force: true });
  const shown: [number, Shown][] = [];
  const placed = new Map<number, string>();
  const held: number[] = [];
  const put = (id: number, path: string): void => {
    const file = files.get(id);
    if (file === undefined) return;
    const { kind, target = "", ino, born } = file.thing;
    if (kind === "directory") {
      if (placed.has(id)) return; // a directory has one name: the move that made the other is on the disk in half
      mkdirSync(path);
    } else if (kind === "symlink") symlinkSync(target, path);
    else if (placed.has(id)) linkSync(placed.get(id) ?? "", path);
    else writeFileSync(path, file.data);
    if (kind !== "symlink") chmodSync(path, file.mode);
    if (!placed.has(id)) {
      const stat = lstatSync(path);
      if (kind !== "symlink") held.push(openSync(path, "r"));
      shown.push([stat.ino, { ino, now: stat.mtimeMs, mtime: file.mtime, born }]);
    }
    placed.set(id, path);
    for (const [name, inner] of file.entries) put(inner, join(path, Buffer.from(name, "latin1").toString()));
  };
  put(root, base);
  return {
    map: JSON.stringify(shown),
    asShown({ base, root, things, operations }) {
      return { base, root, things: things.map(shownAs(shown)), operations };
    },
    [Symbol.dispose]() {
      for (const fd of held) closeSync(fd);
    },
  };
}

/** As the recorder's disguise does it. */
function shownAs(shown: readonly (readonly [number, Shown])[]): (thing: Thing) => Thing {
  const files = new Map(shown);
  const fresh = 1 + Math.max(0, ...shown.map(([now, { ino }]) => Math.max(now, ino)));
  return thing => {
    const as = files.get(thing.ino);
    if (as === undefined) return { ...thing, ino: fresh + thing.ino };
    return { ...thing, ino: as.ino, born: as.born, mtime: thing.mtime === as.now ? as.mtime : thing.mtime };
  };
}
