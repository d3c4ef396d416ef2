// The whole life of a call: find the tool, check the parameters, run it, and word a failure in the
// dialect's words. Every transport and the library end here, so all of them behave alike.
import { append } from "../engine/append.ts";
import { Fault } from "../engine/fault.ts";
import type { Allowed } from "../engine/policy/approval.ts";
import type { CallContext } from "./context.ts";
import type { Dialect, Outcome } from "./dialect.ts";
import { inReplica } from "./replicated-call.ts";
import type { Settings } from "./settings.ts";
import { withNotice } from "./temporary-history.ts";
import type { Reply, Tool } from "./tool.ts";
import { validate } from "./validate.ts";

export async function call(
  dialect: Dialect,
  name: string,
  params: unknown,
  context: CallContext,
): Promise<Outcome> {
  const tool = findTool(dialect, name, context);
  const site = { tool, params, revision: context.revision };
  const failed = (error: unknown): Outcome => {
    const fault = asFault(error, context.signal);
    context.failed?.(fault);
    return dialect.failure(fault, site);
  };
  try {
    if (tool === undefined) throw new Fault("unknown_tool", { name });
    const valid = validate(tool, params) as never;
    return await inReplica(tool, valid, context, async () => {
      try {
        return await result(tool, valid, context);
      } catch (error) {
        return failed(error);
      }
    });
  } catch (error) {
    return failed(error);
  }
}

async function result(tool: Tool, params: never, context: CallContext): Promise<Reply> {
  if (tool.effect === "reads") return await tool.run(params, context);
  const run = (needs: readonly Allowed[]) => tool.run(params, inTheNameOf(tool, context, needs));
  return withNotice(await withApproval(tool, params, context, run), context);
}

/** A call that needs less than this many rounds of questions is answered. */
const mostRounds = 20;

/** Runs a tool. If a rule needs a person's approval, asks, and runs it again with the approval. */
async function withApproval<T>(
  { name, effect }: Tool,
  params: Readonly<Record<string, unknown>>,
  context: CallContext,
  run: (approved: readonly Allowed[]) => Promise<T> | T,
): Promise<T> {
  const approved: Allowed[] = context.session.allowed;
  for (let round = 1; ; round++) {
    try {
      return await run(approved);
    } catch (error) {
      if (!Fault.is(error, "approval_needed") || context.approve === undefined || round === mostRounds)
        throw error;
      const { needs, proposed: changes = [] } = error.data;
      const command = effect === "runs" && typeof params.command === "string" ? params.command : undefined;
      const proposal = { changes, ...(command !== undefined && { command }) };
      const answer = await context.approve(needs, name, proposal);
      if (answer === undefined) throw error;
      if (!answer.allowed) throw new Fault("denied", { what: answer.reason ?? "the person declined" });
      append(approved, needs);
      if (answer.lasting) context.session.allow(needs.map(need => ({ ...need, anywhere: true })));
    }
  }
}

/** Records the tool and the caller with every change. */
function inTheNameOf({ name }: Tool, context: CallContext, approved: readonly Allowed[]): CallContext {
  const { engine, settings, session, revision } = context;
  return {
    engine,
    settings,
    session,
    revision,
    notes: context.notes,
    failed: fault => context.failed?.(fault),
    failedInPart: fault => context.failedInPart?.(fault),
    uncovered: changes => context.uncovered?.(changes),
    workspace: (approved.length === 0 ? context.workspace : context.workspace.approving(approved)).as({
      action: name,
      client: session.client,
      connection: session.connection,
      ...(context.trace !== undefined && { trace: context.trace }),
    }),
    get signal() {
      return context.signal;
    },
    get grant() {
      return context.grant;
    },
    progress: (done, total, message) => context.progress(done, total, message),
  };
}

/** The tools that this caller is offered, in the contract's order. */
export function offeredTools(
  dialect: Dialect,
  context: Pick<CallContext, "workspace" | "settings">,
): readonly Tool[] {
  return dialect.tools.filter(tool => isOffered(dialect, tool, context));
}

/**
 * An unconfined command can write anywhere, so it is not offered when everything is read-only, whatever the dialect.
 * For tools that write through the engine, the roots refuse.
 */
function isOffered(
  { offers }: Dialect,
  tool: Tool,
  context: Pick<CallContext, "workspace" | "settings">,
): boolean {
  const { roots } = context.workspace;
  const isLoose = tool.effect === "runs" && context.settings.commands !== "sandboxed";
  if (isLoose && roots.length > 0 && roots.every(({ access }) => access === "read-only")) return false;
  return offers?.(tool, context) ?? true;
}

export function advertisedName(dialect: Dialect, tool: Tool, settings: Settings): string {
  return settings.plainNames ? tool.name : (dialect.prefix ?? "") + tool.name;
}

function findTool(dialect: Dialect, name: string, context: CallContext): Tool | undefined {
  const prefix = dialect.prefix ?? "";
  const bare = name.startsWith(prefix) ? name.slice(prefix.length) : name;
  const tool = dialect.tools.find(one => one.name === bare);
  return tool === undefined || isOffered(dialect, tool, context) ? tool : undefined;
}

/** Whatever was thrown, as a Fault: an abort as `cancelled`, a defect of ours as `internal`. */
function asFault(error: unknown, signal: AbortSignal): Fault {
  if (error instanceof Fault) return error;
  if (signal.aborted) return new Fault("cancelled", {}, { cause: error });
  return new Fault(
    "internal",
    { message: error instanceof Error ? error.message : String(error) },
    { cause: error },
  );
}
