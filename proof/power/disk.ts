// Puts a disk that a power cut has left where the recorded one was, with a map by which a server sees the inodes and
// times that files had then.
import { chmodSync, linkSync, lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Disk } from "./outage.ts";
import type { Recording } from "./recording.ts";

/** Returns the map. */
export function putBack({ base, root }: Recording, { files }: Disk): string {
  rmSync(base, { recursive: true, force: true });
  const shown: [number, { ino: number; now: number; mtime: number }][] = [];
  const placed = new Map<number, string>();
  const put = (id: number, path: string): void => {
    const file = files.get(id);
    if (file === undefined) return;
    const { kind, target = "", ino } = file.thing;
    if (kind === "directory") {
      if (placed.has(id)) return; // a directory has one name: the move that made the other is on the disk in half
      mkdirSync(path);
    } else if (kind === "symlink") symlinkSync(target, path);
    else if (placed.has(id)) linkSync(placed.get(id) ?? "", path);
    else writeFileSync(path, file.data);
    if (kind !== "symlink") chmodSync(path, file.mode);
    const stat = lstatSync(path);
    if (!placed.has(id)) shown.push([stat.ino, { ino, now: stat.mtimeMs, mtime: file.mtime }]);
    placed.set(id, path);
    for (const [name, inner] of file.entries) put(inner, join(path, Buffer.from(name, "latin1").toString()));
  };
  put(root, base);
  return JSON.stringify(shown);
}
