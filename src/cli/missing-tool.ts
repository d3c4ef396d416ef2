// Why a tool cannot be called: there is none of that name, or these options do not offer it.
import { advertisedName, offeredTools } from "../contract/call.ts";
import type { CallContext } from "../contract/context.ts";
import type { Dialect } from "../contract/dialect.ts";
import { suggestions } from "./nearest.ts";

export interface Missing {
  /** A sentence with what to do. */
  readonly reason: string;
  /** Whether the dialect has the tool, but these options do not offer it. */
  readonly exists: boolean;
}

/** Undefined if the tool is offered. */
export function missingTool(
  dialect: Dialect,
  wanted: string,
  context: Pick<CallContext, "workspace" | "settings">,
): Missing | undefined {
  const { prefix = "", tools } = dialect;
  const bare = wanted.startsWith(prefix) ? wanted.slice(prefix.length) : wanted;
  const offered = offeredTools(dialect, context);
  if (offered.some(({ name }) => name === bare)) return undefined;
  const tool = tools.find(({ name }) => name === bare);
  if (tool === undefined) {
    const names = offered.map(one => advertisedName(dialect, one, context.settings));
    const reason = `there is no tool ${JSON.stringify(wanted)} in the dialect ${dialect.name}${suggestions(wanted, names)}; polyfs tools --dialect ${dialect.name} lists them`;
    return { reason, exists: false };
  }
  const why =
    tool.effect === "runs"
      ? "runs commands: add --allow-run, and leave --no-run and --read-only out"
      : "changes files, and no directory may be written: leave --read-only out";
  return { reason: `the tool ${bare} ${why}`, exists: true };
}
