// Whether anything in a tree has changed since a moment, by the one time that a program cannot set: the inode's time of
// change. find(1) looks at a tree several times as fast as calls from here would; a large tree is divided among several.
import { availableParallelism } from "node:os";
import { secondLevel } from "../workspace/tree/second-level.ts";
import { reducedEnvironment } from "./environment.ts";
import { startProcess } from "./process.ts";

const mostProcesses = 4;
/** Of all arguments of a process. Systems take at least this many. */
const mostArgumentBytes = 100_000;

export interface LookOptions {
  /** Milliseconds since 1970. A change at that moment counts. */
  readonly since: number;
  /** Whether the tree is worth several processes. */
  readonly isLarge?: boolean;
}

/** Undefined where it is unknown. What changes while it looks may be missed. */
export async function isChangedSince(
  tree: string,
  { since, isLarge = false }: LookOptions,
): Promise<boolean | undefined> {
  const parts = isLarge ? divided(tree, since) : [["."]];
  if (parts === "changed") return true;
  const found = await Promise.all(parts.map(part => anyIn(tree, part, since)));
  if (found.includes(true)) return true;
  return found.includes(undefined) ? undefined : false;
}

async function anyIn(tree: string, paths: readonly string[], since: number): Promise<boolean | undefined> {
  try {
    const time = `@${(since / 1000).toFixed(3)}`;
    const args = ["-P", ...paths, "-newerct", time, "-print", "-quit"];
    const find = await startProcess("find", args, { cwd: tree, env: reducedEnvironment() });
    let found = false;
    const { code, errors } = await find.read(() => {
      found = true;
    });
    return found || (code === 0 && errors === "" ? false : undefined);
  } catch {
    return undefined;
  }
}

/** Paths for each process. */
function divided(tree: string, since: number): readonly (readonly string[])[] | "changed" {
  const count = Math.min(availableParallelism(), mostProcesses);
  const paths = count < 2 ? undefined : secondLevel(tree, since);
  if (paths === "changed") return paths;
  const parts = Array.from({ length: count }, (_, i) => (paths ?? []).filter((_, at) => at % count === i));
  const fits = (part: readonly string[]) =>
    part.reduce((sum, path) => sum + Buffer.byteLength(path) + 1, 0) < mostArgumentBytes;
  return parts.every(part => part.length > 0 && fits(part)) ? parts : [["."]];
}
