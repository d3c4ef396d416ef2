// Asks a person whether a call may do what a rule asks about: at a review page if one is open; else at the
// client, by `elicitation/create` where it has that (legacy era), by a result that wants input (modern era). What is
// not a clear yes is a no.

import type { Approval, CallContext, Proposal } from "../contract/context.ts";
import { quoted } from "../contract/wording.ts";
import { once } from "../engine/once.ts";
import type { Need } from "../engine/policy/approval.ts";
import { isRecord } from "./jsonrpc.ts";
import type { Caller, MethodResult, Params, ServerOptions } from "./method.ts";
import { eraOf } from "./revision.ts";

const mostNeeds = 20;
/** A question that is not answered by then is answered with no. */
const patienceMs = 5 * 60_000;

/** Signs questions. Created with the first one: it loads Node's crypto module. */
const signature = once(async () => {
  const { createHmac, randomBytes } = await import("node:crypto");
  const key = randomBytes(32);
  return (asked: unknown) => createHmac("sha256", key).update(JSON.stringify(asked)).digest("base64url");
});
const slot = "approval";

const verbs: { readonly [question in Need["question"]]: string } = {
  write: "change",
  delete: "delete",
  run: "run a command in",
};

export class Asking {
  readonly #caller: Caller;
  readonly #params: Params;
  readonly #options: ServerOptions;
  /** What the client must send before the call can continue. */
  wanted: MethodResult | undefined;

  constructor(caller: Caller, params: Params, options: ServerOptions) {
    this.#caller = caller;
    this.#params = params;
    this.#options = options;
  }

  /** Asks a person; undefined if there is no way to. */
  get approve(): CallContext["approve"] {
    const atClient = this.#atClient;
    if (this.#options.activity === undefined) return atClient;
    return async (needs, tool, proposal) =>
      (await this.#atPage(needs, tool, proposal)) ?? (await atClient?.(needs, tool));
  }

  async #atPage(needs: readonly Need[], tool: string, proposal: Proposal): Promise<Approval | undefined> {
    // The client brings the answer to a question that it was asked before.
    if (isRecord(this.#params.inputResponses)) return undefined;
    const { session, signal, workspace = this.#options.engine.workspace } = this.#caller;
    return await this.#options.activity?.ask({ needs, tool, proposal, session, workspace, signal });
  }

  get #atClient(): ((needs: readonly Need[], tool: string) => Promise<Approval>) | undefined {
    const { capabilities, revision, ask } = this.#caller;
    if (!isRecord(capabilities?.elicitation)) return undefined;
    if (eraOf(revision) === "modern") return (needs, tool) => this.#brought(needs, tool);
    return ask && ((needs, tool) => askNow(ask, question(needs, tool)));
  }

  /** The answer that came with the request; without one, the request is answered with the question. */
  async #brought(needs: readonly Need[], tool: string): Promise<Approval> {
    const sign = await signature();
    const state = sign([tool, needs]);
    const { inputResponses, requestState } = this.#params;
    if (isRecord(inputResponses) && slot in inputResponses && requestState === state)
      return answerOf(inputResponses[slot]);
    const params = question(needs, tool);
    this.wanted = {
      resultType: "input_required",
      inputRequests: { [slot]: { method: "elicitation/create", params } },
      requestState: state,
    };
    return { allowed: false };
  }
}

async function askNow(ask: NonNullable<Caller["ask"]>, params: Params): Promise<Approval> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Approval>(resolve => {
    timer = setTimeout(() => resolve({ allowed: false, reason: "no answer in time" }), patienceMs).unref();
  });
  const answer = ask("elicitation/create", params).then(
    answerOf,
    (): Approval => ({ allowed: false, reason: "the client could not ask" }),
  );
  return await Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

function answerOf(result: unknown): Approval {
  const isYes =
    isRecord(result) &&
    result.action === "accept" &&
    isRecord(result.content) &&
    result.content.allow === true;
  return isYes ? { allowed: true } : { allowed: false };
}

function question(needs: readonly Need[], tool: string): Params {
  const shown = needs.slice(0, mostNeeds).map(({ at, question }) => `${verbs[question]} ${quoted(at)}`);
  const more = needs.length > shown.length ? [`and ${needs.length - shown.length} more`] : [];
  return {
    mode: "form",
    message: `The agent wants to ${[...shown, ...more].join(", ")} (${tool}). Allow it this once?`,
    requestedSchema: {
      type: "object",
      properties: { allow: { type: "boolean", title: "Allow", description: "Allow this call, this once" } },
      required: ["allow"],
    },
  };
}
