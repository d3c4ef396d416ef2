// Paths as this contract takes and prints them: absolute inside a root, relative to the first root, `~/…` or a
// `file://` URI; printed relative to the first root where they are in it.
import type { CallContext } from "../../contract/context.ts";
import { asShown, shownPath } from "../../contract/render/paths.ts";
import { printable } from "../../contract/wording.ts";
import { Fault } from "../../engine/fault.ts";
import { nearestPaths } from "../../engine/search/nearest.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import { refused } from "./failure.ts";

/** The path that a caller wrote. Answers and refusals name it as `given`. */
export function pathAt(
  { workspace, settings }: Pick<CallContext, "workspace" | "settings">,
  written: string,
): WorkspacePath {
  const path = workspace.at(written, { home: settings.homeDirectory, uris: true });
  return asShown(workspace, path);
}

/** One path or a list of them, and neither both nor an empty list. */
export function confirmOnePathOrMore(path: string | undefined, paths: readonly string[] | undefined): void {
  if ((path === undefined) === (paths === undefined))
    throw refused("give either path or paths", "path is one file, paths a list of them.");
  if (paths?.length === 0) throw refused("paths is empty", "Name at least one file.");
}

/** A canonical path, from a commit or the archive, as it is printed. */
export function shownAt(workspace: Workspace, absolute: string): string {
  return printable(givenAt(workspace, absolute));
}

/** The same for a fault, whose wording makes it printable. */
export function givenAt(workspace: Workspace, absolute: string): string {
  try {
    return shownPath(workspace, workspace.at(absolute));
  } catch (error) {
    if (error instanceof Fault) return absolute;
    throw error;
  }
}

/** The error; for a missing path, with similar names. */
export async function withNearest(error: unknown, call: CallContext): Promise<unknown> {
  if (!Fault.is(error, "not_found") || error.data.nearest !== undefined) return error;
  try {
    const { path } = error.data;
    const found = await nearestPaths(call.workspace, pathAt(call, path));
    const nearest = found.map(one => printable(shownPath(call.workspace, one)));
    return new Fault("not_found", { ...error.data, path, nearest }, { cause: error });
  } catch (other) {
    if (other instanceof Fault) return error;
    throw other;
  }
}
