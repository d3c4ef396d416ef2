// The directories that servers of this user have served: one small file each in the state directory, so that a page
// can show, and undo, what a server did that has ended since.
import { createHash } from "node:crypto";
import { StateFolder } from "../host/state-folder.ts";
import { folders } from "./wire.ts";

const mostRoots = 200;
const maxAgeMs = 60 * 24 * 3_600_000;

interface ServedRoot {
  readonly path: string;
  readonly time: number;
}

/** Called by a server when it begins to be used. */
export function noteRoots(folder: StateFolder, roots: readonly string[]): void {
  for (const path of roots) {
    const name = `${createHash("sha256").update(path).digest("hex").slice(0, 24)}.json`;
    folder.write(name, JSON.stringify({ path, time: Date.now() } satisfies ServedRoot));
  }
}

/** Most recent first. Those that were not served for long are forgotten. */
export function servedRoots(state: string | undefined): string[] {
  const folder = StateFolder.make(state, ...folders.roots);
  const found: ServedRoot[] = [];
  for (const name of folder?.names() ?? []) {
    const root = name.endsWith(".json") ? folder?.readJson(name) : undefined;
    if (!isServedRoot(root)) continue;
    if (Date.now() - root.time > maxAgeMs) folder?.clear(name);
    else found.push(root);
  }
  return found
    .sort((a, b) => b.time - a.time)
    .slice(0, mostRoots)
    .map(({ path }) => path);
}

function isServedRoot(value: unknown): value is ServedRoot {
  if (typeof value !== "object" || value === null) return false;
  const { path, time } = value as Partial<ServedRoot>;
  return typeof path === "string" && typeof time === "number";
}
