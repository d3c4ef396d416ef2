// The tools for Mastra (`@mastra/core`): give the answer to new Agent({ tools }). polyfs checks the parameters.
import { createTool } from "@mastra/core/tools";
import { call, type Dialect, definitions, type Engine, outcomeText, Session } from "polyfs";

export function toolsForMastra(dialect: Dialect, engine: Engine, session = new Session()) {
  return Object.fromEntries(
    definitions(dialect, { engine }).map(({ name, description, inputSchema }) => [
      name,
      createTool({
        id: name,
        description,
        inputSchema: inputSchema as never,
        execute: async params => outcomeText(await call(dialect, name, params, { engine, session })),
      }),
    ]),
  );
}
