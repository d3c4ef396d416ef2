// The public library: open an engine, choose or make a dialect, call its tools or serve them. What is not named
// here is free to change.
export type { Approval, CallContext, Proposal } from "./contract/context.ts";
export type { Dialect, Outcome, ProtocolError, Site } from "./contract/dialect.ts";
export {
  callEmbedded as call,
  type Definition,
  definitions,
  type EmbeddedContext,
  outcomeText,
} from "./contract/embedded.ts";
export type { Infer, ObjectSchema, Schema } from "./contract/schema.ts";
export { Session, type Slot } from "./contract/session.ts";
export { defaultSettings, type Settings } from "./contract/settings.ts";
export { type Content, type Effect, type Reply, type Tool, text, tool } from "./contract/tool.ts";
export { plainWording, say, type Wording } from "./contract/wording.ts";
export { defaultDialect, dialects } from "./dialects/index.ts";
export { type Engine, type EngineOptions, openEngine } from "./engine/engine.ts";
export { Fault, type FaultCode, type Faults, type Kind } from "./engine/fault.ts";
export { type ChangeQuery, listChanges } from "./engine/history/changes.ts";
export { type Restored, type Undone, type UndoOptions, undo } from "./engine/history/undo.ts";
export type { Need } from "./engine/policy/approval.ts";
export { defaultRules } from "./engine/policy/default-rules.ts";
export { Policy } from "./engine/policy/policy.ts";
export type { Decision, PolicyRule } from "./engine/policy/rule.ts";
export type { ChangeRecord, RecordedFile } from "./engine/workspace/archive/log.ts";
export type { Change, Commit } from "./engine/workspace/commit/change.ts";
export type { OpenFile } from "./engine/workspace/file.ts";
export type { Grant } from "./engine/workspace/grant.ts";
export type { WorkspacePath } from "./engine/workspace/path.ts";
export type { Access } from "./engine/workspace/root.ts";
export type { PolicySource } from "./engine/workspace/rules.ts";
export type { Workspace } from "./engine/workspace/workspace.ts";
export { collect as collectDropped } from "./engine/workspaces/collect.ts";
export type { ForkDifference } from "./engine/workspaces/file-difference.ts";
export type { MergeResult } from "./engine/workspaces/merge.ts";
export { openWorkspaces, type WorkspacesOptions } from "./engine/workspaces/open.ts";
export type { WorkspaceRecord } from "./engine/workspaces/record.ts";
export type { Workspaces } from "./engine/workspaces/workspaces.ts";
export { createHandler, type Handler, type HandlerOptions } from "./mcp/http/handler.ts";
export { createLog, type Log, type LogFormat, type LogLevel } from "./mcp/log.ts";
export type { ServerIdentity } from "./mcp/method.ts";
export { type StdioOptions, serveStdio } from "./mcp/stdio.ts";
export { version } from "./version.ts";
