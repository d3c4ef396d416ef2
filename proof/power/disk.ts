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
import type { Recorded } from "./kept.ts";
import type { Disk } from "./outage.ts";

export interface PutBack extends Disposable {
  /** For `PROOF_POWER_MAP`: how files are shown, by their inodes now. */
  readonly map: string;
}

/** Until it is disposed of, no inode is given again: one would be shown as that of the file which had it. */
export function putBack({ base, root }: Recorded, { files }: Disk): PutBack {
  rmSync(base, { recursive: true, force: true });
  const shown: [number, { ino: number; now: number; mtime: number; born: number }][] = [];
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
    [Symbol.dispose]() {
      for (const fd of held) closeSync(fd);
    },
  };
}
