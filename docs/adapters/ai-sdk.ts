// The tools for the AI SDK (`ai`): give the answer to generateText({ model, tools, ... }).
import { jsonSchema, type Tool, tool } from "ai";
import { call, type Dialect, definitions, type Engine, outcomeText, Session } from "polyfs";

export function toolsForAiSdk(
  dialect: Dialect,
  engine: Engine,
  session = new Session(),
): Record<string, Tool> {
  return Object.fromEntries(
    definitions(dialect, { engine }).map(({ name, description, inputSchema }) => [
      name,
      tool({
        description,
        inputSchema: jsonSchema(inputSchema as Parameters<typeof jsonSchema>[0]),
        execute: async params => outcomeText(await call(dialect, name, params, { engine, session })),
      }),
    ]),
  );
}
