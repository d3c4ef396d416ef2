// Tools that need an answer from the client: by a request of ours while they run (2025), or by a result that asks
// for input and a second call that brings it (2026-07-28).
import { createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { InvalidParams, isRecord, RpcError } from "../../../src/mcp/jsonrpc.ts";
import type { Caller, MethodResult, Params } from "../../../src/mcp/method.ts";

type Round = (params: Params, caller: Caller) => MethodResult | Promise<MethodResult>;

const said = (text: string): MethodResult => ({ content: [{ type: "text", text }] });
const args = (params: Params): Params => (isRecord(params.arguments) ? params.arguments : {});

const object = (
  properties: Record<string, unknown>,
  required: readonly string[] = Object.keys(properties),
) => ({
  type: "object",
  properties,
  required,
});
const elicit = (message: string, properties: Record<string, unknown>) => ({
  method: "elicitation/create",
  params: { mode: "form", message, requestedSchema: object(properties) },
});
const sample = (text: string, maxTokens: number) => ({
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: { type: "text", text } }], maxTokens },
});
const roots = { method: "roots/list", params: {} };
const name = elicit("What is your name?", { name: { type: "string" } });
const confirm = elicit("Please confirm", { ok: { type: "boolean" } });

async function ask(caller: Caller, method: string, params: Params): Promise<Params> {
  if (caller.ask === undefined) throw new RpcError(InvalidParams, "the client cannot be asked");
  const answer = await caller.ask(method, params);
  return isRecord(answer) ? answer : {};
}

function elicitation(properties: Record<string, unknown>, words: string): Round {
  return async (params, caller) => {
    const message = String(args(params).message ?? "Please answer");
    const requestedSchema = { type: "object", properties };
    const { action, content } = await ask(caller, "elicitation/create", { message, requestedSchema });
    return said(`${words}: action=${action}, content=${JSON.stringify(content)}`);
  };
}

/** What the client has brought for these keys, where it is what was asked for. */
function brought(params: Params, keys: readonly string[]): Params | undefined {
  const given = isRecord(params.inputResponses) ? params.inputResponses : {};
  return keys.every(key => isRecord(given[key])) ? given : undefined;
}

const seal = (state: string) => createHmac("sha256", "a key for tests").update(state).digest("base64url");

function unsealed({ requestState }: Params): string | undefined {
  if (requestState === undefined) return undefined;
  const [state = "", mark] = String(requestState).split(".");
  if (seal(state) !== mark) throw new RpcError(InvalidParams, "Invalid requestState");
  return state;
}

/** Asks for input until all of it is there. */
function needs(
  inputRequests: Record<string, unknown>,
  state: string | undefined,
  done: (given: Params) => string,
): Round {
  return params => {
    const before = unsealed(params);
    const given = brought(params, Object.keys(inputRequests));
    if (given !== undefined && before === state) return said(done(given));
    const requestState = state === undefined ? {} : { requestState: `${state}.${seal(state)}` };
    return { resultType: "input_required", inputRequests, ...requestState };
  };
}

const logging: Round = async (_, { notify }) => {
  for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
    notify("notifications/message", { level: "info", data });
    await sleep(50);
  }
  return said("logged");
};

const option = (value: string, title: string) => ({ const: value, title });

export const rounds: Readonly<Record<string, Round>> = {
  test_tool_with_logging: logging,
  test_logging_tool: logging,
  test_sampling: async (params, caller) => {
    const { params: request } = sample(String(args(params).prompt), 100);
    const { content } = await ask(caller, "sampling/createMessage", request);
    return said(`LLM response: ${isRecord(content) ? content.text : ""}`);
  },
  test_elicitation: elicitation(
    {
      username: { type: "string", description: "User's response" },
      email: { type: "string", description: "User's email address" },
    },
    "User response",
  ),
  test_elicitation_sep1034_defaults: elicitation(
    {
      name: { type: "string", default: "John Doe" },
      age: { type: "integer", default: 30 },
      score: { type: "number", default: 95.5 },
      status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", default: true },
    },
    "Elicitation completed",
  ),
  test_elicitation_sep1330_enums: elicitation(
    {
      untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
      titledSingle: {
        type: "string",
        oneOf: [
          option("value1", "First Option"),
          option("value2", "Second Option"),
          option("value3", "Third Option"),
        ],
      },
      legacyEnum: {
        type: "string",
        enum: ["opt1", "opt2", "opt3"],
        enumNames: ["Option One", "Option Two", "Option Three"],
      },
      untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
      titledMulti: {
        type: "array",
        items: {
          anyOf: [
            option("value1", "First Choice"),
            option("value2", "Second Choice"),
            option("value3", "Third Choice"),
          ],
        },
      },
    },
    "Elicitation completed",
  ),
  test_missing_capability: (_, { capabilities = {} }) => {
    if (isRecord(capabilities.sampling)) return said("sampling is there");
    throw new RpcError(-32021, "sampling is needed", { requiredCapabilities: { sampling: {} } });
  },
  test_streaming_elicitation: needs({ user_name: name }, undefined, () => "done"),
  test_input_required_result_elicitation: needs({ user_name: name }, undefined, ({ user_name }) => {
    const content = isRecord(user_name) && isRecord(user_name.content) ? user_name.content : {};
    return `Hello, ${content.name}!`;
  }),
  test_input_required_result_sampling: needs(
    { capital_question: sample("What is the capital of France?", 100) },
    undefined,
    given => JSON.stringify(given.capital_question),
  ),
  test_input_required_result_list_roots: needs({ client_roots: roots }, undefined, given =>
    JSON.stringify(given.client_roots),
  ),
  test_input_required_result_request_state: needs({ confirm }, "one", () => "state-ok"),
  test_input_required_result_tampered_state: needs({ confirm }, "sealed", () => "state-ok"),
  test_input_required_result_multiple_inputs: needs(
    { user_name: name, greeting: sample("Generate a greeting", 50), client_roots: roots },
    "many",
    given => JSON.stringify(given),
  ),
  test_input_required_result_multi_round: (params, caller) => {
    const step1 = elicit("Step 1: What is your name?", { name: { type: "string" } });
    const step2 = elicit("Step 2: What is your favorite color?", { color: { type: "string" } });
    const state = unsealed(params);
    if (state === "second") return needs({ step2 }, "second", () => "all steps done")(params, caller);
    if (state === "first" && brought(params, ["step1"]) !== undefined)
      return needs({ step2 }, "second", () => "")({}, caller);
    return needs({ step1 }, "first", () => "")({}, caller);
  },
  test_input_required_result_capabilities: (params, caller) => {
    const { capabilities = {} } = caller;
    const all: Record<string, unknown> = {
      ...(isRecord(capabilities.elicitation) ? { user_name: name } : {}),
      ...(isRecord(capabilities.sampling) ? { greeting: sample("Generate a greeting", 50) } : {}),
    };
    return needs(all, undefined, () => "done")(params, caller);
  },
};

export const promptRound = needs(
  { user_context: elicit("What context should the prompt use?", { context: { type: "string" } }) },
  undefined,
  given => JSON.stringify(given.user_context),
);
