// Whether anything in a tree has changed since a moment, by the one time that a program cannot set: the inode's time of
// change. find(1) looks at a tree several times as fast as calls from here would; a large tree is divided among several,
// which a shell starts: what Node takes to start a process grows with its memory.
import { availableParallelism } from "node:os";
import { pathsToLookAt } from "../workspace/tree/division.ts";
import { reducedEnvironment } from "./environment.ts";
import { startProcess } from "./process.ts";
import { singleQuoted } from "./single-quoted.ts";

const mostProcesses = 4;
/** Of an argument. Linux takes 131,071 bytes. */
const mostScriptBytes = 100_000;

export interface LookOptions {
  /** Milliseconds since 1970. A change at that moment counts. */
  readonly since: number;
  /** Whether the tree is worth several processes. */
  readonly isLarge?: boolean;
}

/** Undefined if it is unknown. What changes while it looks may be missed. */
export async function isChangedSince(
  tree: string,
  { since, isLarge = false }: LookOptions,
): Promise<boolean | undefined> {
  const test = ["-newerct", `@${(since / 1000).toFixed(3)}`, "-print", "-quit"];
  const parts = isLarge ? divided(tree, since) : undefined;
  if (parts === "changed") return true;
  const script = parts && scriptOf(parts, test);
  return script === undefined || Buffer.byteLength(script) > mostScriptBytes
    ? await anyFound(tree, "find", ["-P", ".", ...test])
    : await anyFound(tree, "sh", ["-c", script]);
}

async function anyFound(cwd: string, program: string, args: readonly string[]): Promise<boolean | undefined> {
  try {
    const started = await startProcess(program, args, { cwd, env: { ...reducedEnvironment(), LC_ALL: "C" } });
    let found = false;
    const { code, errors } = await started.read(() => {
      found = true;
    });
    return found || (code === 0 && errors === "" ? false : undefined);
  } catch {
    return undefined;
  }
}

/** Looks at all parts at once, and succeeds if each look does. */
function scriptOf(parts: readonly (readonly string[])[], test: readonly string[]): string {
  const looks = parts.map(
    (part, i) => `find -P ${[...part, ...test].map(singleQuoted).join(" ")} & p${i}=$!`,
  );
  return [...looks, parts.map((_, i) => `wait $p${i}`).join(" && ")].join("\n");
}

/** Paths for each process; undefined if one process is enough or the tree cannot be divided. */
function divided(tree: string, since: number): readonly (readonly string[])[] | "changed" | undefined {
  const count = Math.min(availableParallelism(), mostProcesses);
  const paths = count < 2 ? undefined : pathsToLookAt(tree, since);
  if (paths === "changed") return paths;
  if (paths === undefined || paths.length < count) return undefined;
  return Array.from({ length: count }, (_, i) => paths.filter((_, at) => at % count === i));
}
