// Paths as callers write them: absolute, from home, or relative to the working directory.
import type { CallContext } from "../../contract/context.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";

export const pathsProperty = {
  type: "array",
  items: { type: "string" },
  minItems: 1,
  maxItems: 100,
} as const;

export function pathOf(written: string, { workspace, settings }: CallContext): WorkspacePath {
  return workspace.at(written, { base: settings.workingDirectory, home: settings.homeDirectory });
}
