// What a caller may reach, as a workspace. If directories are served, a grant can only narrow them; if none are, the
// token file names them.
import { parse } from "node:path";
import type { Effect, Tool } from "../../contract/tool.ts";
import type { Grant } from "../../engine/workspace/grant.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";

/** What a token may do: the effects of tools, and the review page, which shows all changes and undoes them. */
export type TokenEffect = Effect | "reviews";

export interface Reach {
  readonly workspace: Workspace;
  /** Whether it is the caller's own, to be closed with it. */
  readonly narrowed: boolean;
}

/** `roots` absent: all that is served. Faults where a directory is not served or not there. */
export function reachOf(
  served: Workspace,
  roots: readonly Grant[] | undefined,
  effects: readonly TokenEffect[],
): Reach {
  const writes = effects.includes("writes");
  if (roots === undefined && writes) return { workspace: served, narrowed: false };
  const grants = (roots ?? served.roots).map(({ path, access }) => ({
    path,
    access: writes ? access : ("read-only" as const),
  }));
  const whole = grants.find(({ path }) => parse(path).root === path);
  if (served.roots.length === 0 && whole !== undefined)
    throw new Error(`${whole.path} is the whole filesystem`);
  const workspace = served.roots.length === 0 ? served.elsewhere(grants) : served.part(grants);
  return { workspace, narrowed: true };
}

export function permits(effects: readonly TokenEffect[], tools?: readonly string[]): (tool: Tool) => boolean {
  return ({ name, effect }) => effects.includes(effect) && (tools === undefined || tools.includes(name));
}
