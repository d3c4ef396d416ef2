// A tool of this dialect: what it does not find, it tells with the names that may have been meant.
import type { ObjectSchema } from "../../contract/schema.ts";
import { type Tool, tool } from "../../contract/tool.ts";
import { withNearest } from "./paths.ts";

export function polyfsTool<const S extends ObjectSchema>(spec: Tool<S>): Tool {
  return tool({
    ...spec,
    async run(params, call) {
      try {
        return await spec.run(params, call);
      } catch (error) {
        throw await withNearest(error, call);
      }
    },
  });
}
