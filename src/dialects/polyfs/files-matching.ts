// The files that a list of globs, files and directories means, each once, in path order.
import type { CallContext } from "../../contract/context.ts";
import { nameBelow } from "../../contract/render/paths.ts";
import { Fault } from "../../engine/fault.ts";
import { walk } from "../../engine/search/walk.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import { pathAt } from "./paths.ts";
import { globsOf, isGlob, scopeOf } from "./scope.ts";

/** More are hardly intended, and would take long. */
const maxFiles = 20_000;

interface MatchingFiles {
  readonly files: WorkspacePath[];
  /** Directories that could not be read. */
  readonly unreadable: number;
}

export async function filesMatching(paths: readonly string[], call: CallContext): Promise<MatchingFiles> {
  const files = new Map<string, WorkspacePath>();
  const tally = { unreadable: 0 };
  for (const written of paths) {
    const before = files.size;
    for await (const path of matching(written, call, tally)) {
      const at = call.workspace.locate(path).path;
      if (!files.has(at)) files.set(at, path);
      if (files.size > maxFiles) throw new Fault("too_many_files", { limit: maxFiles });
    }
    if (files.size === before && isGlob(written)) throw new Fault("nothing_matches", { glob: written });
  }
  return { files: [...files.values()], ...tally };
}

async function* matching(
  written: string,
  call: CallContext,
  tally: { unreadable: number },
): AsyncGenerator<WorkspacePath> {
  const { workspace, signal } = call;
  const { start, glob } =
    isGlob(written) && !isFile(written, call) ? split(written) : { start: written, glob: undefined };
  const at = pathAt(call, start);
  if (glob === undefined && workspace.stat(at).kind !== "directory") {
    yield at;
    return;
  }
  using directory = workspace.directory(at);
  const include =
    glob === undefined
      ? undefined
      : globsOf([glob], { slashless: written.includes("/") ? "path" : "base-name" });
  const found = walk(directory, { ...scopeOf({ ignored: false, hidden: true }), include, signal });
  for await (const entry of found)
    if (entry.kind === "file") yield at.below(entry.path, nameBelow(at, entry.path));
  tally.unreadable += found.report.inaccessible;
}

/** Whether there is a file of that very name: it wins over the files that the name matches as a glob. */
function isFile(written: string, call: CallContext): boolean {
  try {
    return call.workspace.stat(pathAt(call, written)).kind === "file";
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}

/** `src/x/*.ts` as the directory before the first wildcard and the rest. */
function split(glob: string): { start: string; glob: string } {
  const segments = glob.split("/");
  const wild = segments.findIndex(isGlob);
  const start = segments.slice(0, wild).join("/");
  return {
    start: start === "" ? (glob.startsWith("/") ? "/" : ".") : start,
    glob: segments.slice(wild).join("/"),
  };
}
