// A tool of this dialect: parameters that it does not know are refused, and what it does not find, it tells with the names that may have been meant.
import type { ObjectSchema } from "../../contract/schema.ts";
import { type Tool, tool } from "../../contract/tool.ts";
import { withNearest } from "./paths.ts";
import { withNoteCount } from "./reviewer-notes.ts";

export function polyfsTool<const S extends ObjectSchema>(spec: Tool<S>): Tool {
  return tool({
    ...spec,
    closed: true,
    async run(params, call) {
      try {
        const reply = await spec.run(params, call);
        return spec.name === "list_changes" ? reply : withNoteCount(reply, call);
      } catch (error) {
        throw await withNearest(error, call);
      }
    },
  });
}
