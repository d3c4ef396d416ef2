// `stop_command`: ends a background command with everything that it started.
import { text } from "../../contract/tool.ts";
import { howEnded, jobs } from "./commands.ts";
import { polyfsTool } from "./polyfs-tool.ts";

export const stopCommand = polyfsTool({
  name: "stop_command",
  title: "Stop command",
  description: "End a background command.",
  input: {
    type: "object",
    properties: { job: { type: "string" } },
    required: ["job"],
  },
  effect: "runs",
  idempotent: true,
  async run({ job }, { session }) {
    const { exit } = await session.get(jobs).stop(job);
    return text(`job ${job} · ${exit === undefined ? "still ending" : howEnded(exit)}`);
  },
});
