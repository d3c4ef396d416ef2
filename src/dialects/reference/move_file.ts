// `move_file`: moves or renames a file or directory, never onto something. A link is moved itself.
import { Fault } from "../../engine/fault.ts";
import { pathAt } from "./paths.ts";
import { textTool } from "./reference-tool.ts";

export const moveFile = textTool({
  name: "move_file",
  title: "Move file",
  description:
    "Move or rename a file or directory. Fails if the destination exists, or if its parent directory does not. Both " +
    "paths must be within the allowed directories.",
  input: {
    type: "object",
    properties: { source: { type: "string" }, destination: { type: "string" } },
    required: ["source", "destination"],
  },
  effect: "writes",
  paths: ["source", "destination"],
  call: "rename",
  async run({ source, destination }, call) {
    const [from, to] = [pathAt(source, call), pathAt(destination, call)];
    try {
      const { files } = await call.workspace.commit([{ kind: "move", from, to }], { signal: call.signal });
      // Moving a path onto itself is refused: the destination exists.
      if (files[0]?.effect === "none") throw new Fault("exists", { path: to.given });
    } catch (error) {
      throw aboutBoth(error, from.given, to.given);
    }
    return `Successfully moved ${source} to ${destination}`;
  },
});

const problems: Readonly<Record<string, string>> = {
  not_found: "ENOENT: no such file or directory",
  parent_not_found: "ENOENT: no such file or directory",
  into_itself: "EINVAL: invalid argument",
};

function aboutBoth(error: unknown, from: string, to: string): unknown {
  if (Fault.is(error, "protected_root") && error.data.path === to) return new Fault("exists", { path: to });
  const problem = error instanceof Fault ? problems[error.code] : undefined;
  if (problem === undefined) return error;
  return new Fault("invalid_argument", { message: `${problem}, rename '${from}' -> '${to}'` });
}
