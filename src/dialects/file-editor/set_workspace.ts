// `set_workspace`: chooses the directory for all other tools. The directories of the command line bound the choice;
// without any, every directory is allowed except the root of the file system.
import { isAbsolute, parse } from "node:path";
import type { CallContext } from "../../contract/context.ts";
import { text, tool } from "../../contract/tool.ts";
import { Fault } from "../../engine/fault.ts";
import { nativeForm } from "../../engine/workspace/windows-path.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import { choose, refuseForgetful } from "./chosen.ts";

export const setWorkspace = tool({
  name: "set_workspace",
  title: "Set workspace",
  description:
    "Set the workspace root directory. All subsequent file operations will be based on this directory. Relative " +
    "paths will be automatically resolved within the workspace, and absolute paths must be within the workspace.",
  input: {
    type: "object",
    properties: {
      path: { type: "string", description: "The absolute path of the workspace root directory" },
    },
    required: ["path"],
  },
  effect: "reads",
  paths: ["path"],
  run({ path }, call) {
    refuseForgetful(call.session);
    const workspace = call.settings.anyDirectory === undefined ? granted(path, call) : anywhere(path, call);
    choose(call.session, workspace);
    return text(`Successfully set workspace root to: ${nativeForm(workspace.roots[0]?.spelling ?? path)}`);
  },
});

function granted(path: string, { workspace }: CallContext): Workspace {
  try {
    return workspace.within(workspace.at(path));
  } catch (error) {
    if (!Fault.is(error, "outside_roots")) throw error;
    const allowed = workspace.roots.map(root => nativeForm(root.spelling)).join(", ");
    throw new Fault("invalid_argument", {
      message: `Access denied: Path is outside the workspace boundary (allowed: ${allowed || "nothing"})`,
    });
  }
}

function anywhere(path: string, { workspace, settings }: CallContext): Workspace {
  if (!isAbsolute(path)) {
    throw new Fault("invalid_argument", { message: `Workspace path must be absolute: ${path}` });
  }
  const access = settings.anyDirectory ?? "read-only";
  using whole = workspace.elsewhere([{ path: parse(path).root, access }], { entered: true });
  const chosen = whole.within(whole.at(path));
  const root = chosen.roots[0]?.path ?? "";
  if (parse(root).root !== root) return chosen;
  chosen[Symbol.dispose]();
  throw new Fault("invalid_argument", {
    message: `The whole filesystem cannot be the workspace: ${path}. Choose a directory in it.`,
  });
}
