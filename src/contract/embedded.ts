// Calls for a program that embeds the tools in its own loop, without a protocol: everything but the engine has a
// default.
import type { Engine } from "../engine/engine.ts";
import { advertisedName, call, offeredTools } from "./call.ts";
import type { CallContext } from "./context.ts";
import type { Dialect, Outcome } from "./dialect.ts";
import type { ObjectSchema } from "./schema.ts";
import { Session } from "./session.ts";
import { defaultSettings, type Settings } from "./settings.ts";

/** The context of a call. Only `engine` is required. */
export interface EmbeddedContext extends Partial<Omit<CallContext, "engine" | "settings">> {
  readonly engine: Engine;
  /** Settings that differ from the defaults. */
  readonly settings?: Partial<Settings>;
}

/**
 * Calls one tool of a dialect, with the model's parameters. Never throws because of the model's input: a failure is a
 * reply with `isError`, or `{ error }` in dialects whose contract has protocol errors. `outcomeText` returns the text
 * of either.
 *
 * @param name with or without the dialect's prefix
 * @param params unchecked: they are validated against the tool's schema, and defaults are filled in
 * @param context pass one {@link Session} for a whole conversation if tools keep state (a chosen
 *   workspace, background commands); without one, calls share no state
 */
export async function callEmbedded(
  dialect: Dialect,
  name: string,
  params: unknown,
  context: EmbeddedContext,
): Promise<Outcome> {
  const { engine, session, settings } = context;
  using alone = session === undefined ? new Session({ lasting: false }) : undefined;
  return await call(dialect, name, withoutUndefined(params), {
    ...context,
    engine,
    workspace: context.workspace ?? engine.workspace,
    settings: { ...defaultSettings, ...settings },
    session: session ?? alone ?? new Session(),
    revision: context.revision ?? "2025-11-25",
    signal: context.signal ?? new AbortController().signal,
    progress: context.progress ?? (() => {}),
  });
}

/** Frameworks pass parameters that were not given as undefined, which JSON does not have. */
function withoutUndefined(params: unknown): unknown {
  if (typeof params !== "object" || params === null || Array.isArray(params)) return params;
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined));
}

/** A tool's definition for a model. */
export interface Definition {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  /** Whether it is read-only: such calls may run in parallel, and without confirmation. */
  readonly readOnly: boolean;
}

/** The tools that a dialect offers with these settings, as most model APIs want them. */
export function definitions(dialect: Dialect, context: EmbeddedContext): Definition[] {
  const settings = { ...defaultSettings, ...context.settings };
  const workspace = context.workspace ?? context.engine.workspace;
  return offeredTools(dialect, { workspace, settings }).map(tool => ({
    name: advertisedName(dialect, tool, settings),
    title: tool.title,
    description: tool.description,
    inputSchema: tool.input,
    readOnly: tool.effect === "reads",
  }));
}

/** What to hand back to a model that only reads text: the texts of a reply, or the message of an error. */
export function outcomeText(outcome: Outcome): string {
  if ("error" in outcome) return `error ${outcome.error.code}: ${outcome.error.message}`;
  return outcome.content.map(item => (item.type === "text" ? item.text : `[${item.type}]`)).join("\n");
}
