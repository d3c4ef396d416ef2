// How paths are written in this contract: absolute, from the home directory, or relative to the first allowed
// directory from which they stay inside. They are made absolute first, because messages show them so.
import { isAbsolute, join, resolve } from "node:path";
import type { CallContext } from "../../contract/context.ts";
import { Fault } from "../../engine/fault.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import { isWithin } from "../../engine/workspace/root.ts";
import { ownForm } from "../../engine/workspace/windows-path.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";

export function pathAt(given: string, { workspace, settings }: CallContext): WorkspacePath {
  const written =
    given === "~" || given.startsWith("~/") ? join(settings.homeDirectory, given.slice(1)) : given;
  if (written[1] === ":" && process.platform !== "win32" && /^[A-Za-z]:([\\/]|$)/.test(written)) {
    // As a name it would be in the allowed directory, and not where the caller thinks.
    const message = `Access denied - Windows-style path received on a POSIX host: ${given}`;
    throw new Fault("invalid_argument", { message });
  }
  if (isAbsolute(written)) return workspace.at(resolve(written));
  const candidates = workspace.roots.map(root => ownForm(resolve(root.spelling, written)));
  const inside = candidates.find(path => allowedDirectories(workspace).some(root => isWithin(path, root)));
  return workspace.at(inside ?? candidates[0] ?? resolve(settings.workingDirectory, written));
}

/** Each allowed directory as it was named and, if that differs, its canonical path. */
export function allowedDirectories(workspace: Workspace): string[] {
  return workspace.roots.flatMap(({ spelling, path }) => (spelling === path ? [path] : [spelling, path]));
}
