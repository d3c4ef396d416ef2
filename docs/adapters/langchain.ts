// The tools for LangChain (`@langchain/core`): give the answer to createAgent({ model, tools }).
import { type DynamicStructuredTool, tool } from "@langchain/core/tools";
import { call, type Dialect, definitions, type Engine, outcomeText, Session } from "polyfs";

export function toolsForLangChain(
  dialect: Dialect,
  engine: Engine,
  session = new Session(),
): DynamicStructuredTool[] {
  return definitions(dialect, { engine }).map(
    ({ name, description, inputSchema }) =>
      tool(async params => outcomeText(await call(dialect, name, params, { engine, session })), {
        name,
        description,
        schema: inputSchema as object,
      }) as unknown as DynamicStructuredTool,
  );
}
