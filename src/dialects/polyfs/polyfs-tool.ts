// A tool of this dialect: refuses unknown parameters, and suggests similar names for a missing path.
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
