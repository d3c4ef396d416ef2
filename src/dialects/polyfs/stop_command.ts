// `stop_command`: ends a background command with everything that it started.
import { text } from "../../contract/tool.ts";
import { howEnded, jobIn, jobs } from "./commands.ts";
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
  async run({ job }, call) {
    const { exit } = await call.session.get(jobs).stop(jobIn(job, call));
    return text(`job ${job} · ${exit === undefined ? "still ending" : howEnded(exit)}`);
  },
});
