// A tool that works in the chosen workspace. It is handed that workspace and nothing else to reach files with, so
// no tool can forget to ask for it.
import type { CallContext } from "../../contract/context.ts";
import type { Infer, ObjectSchema } from "../../contract/schema.ts";
import { type Reply, type Tool, tool } from "../../contract/tool.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import { inChosen } from "./chosen.ts";

/** The rest of the call's context. */
export type WorkspaceCall = Pick<CallContext, "settings" | "session" | "signal" | "failedInPart">;

interface WorkspaceTool<S extends ObjectSchema> extends Omit<Tool<S>, "run"> {
  run(params: Infer<S>, workspace: Workspace, call: WorkspaceCall): Promise<Reply>;
}

export function workspaceTool<const S extends ObjectSchema>(spec: WorkspaceTool<S>): Tool {
  return tool<S>({
    ...spec,
    run: (params, call) => inChosen(call, workspace => spec.run(params, workspace, call)),
  });
}
