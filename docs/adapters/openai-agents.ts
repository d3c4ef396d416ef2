// The tools for the OpenAI Agents SDK (`@openai/agents`): give the answer to new Agent({ tools }). The schemas have
// optional parameters, which strict mode does not know.
import { type FunctionTool, tool } from "@openai/agents";
import { call, type Dialect, definitions, type Engine, outcomeText, Session } from "polyfs";

export function toolsForOpenAiAgents(
  dialect: Dialect,
  engine: Engine,
  session = new Session(),
): FunctionTool[] {
  return definitions(dialect, { engine }).map(
    ({ name, description, inputSchema }) =>
      tool({
        name,
        description,
        parameters: { required: [], ...inputSchema, additionalProperties: true } as never,
        strict: false,
        execute: async params => outcomeText(await call(dialect, name, params, { engine, session })),
      }) as FunctionTool,
  );
}
