// `command_output`: the output of a background command, and whether it still runs.
import { text } from "../../contract/tool.ts";
import { answerBytes, number } from "./answer.ts";
import { howEnded, jobIn, jobs } from "./commands.ts";
import { polyfsTool } from "./polyfs-tool.ts";

const longestWait = 50_000; // clients give up after a minute

export const commandOutput = polyfsTool({
  name: "command_output",
  title: "Command output",
  description: "Output of a background command.",
  input: {
    type: "object",
    properties: {
      job: { type: "string" },
      offset: { type: "integer", minimum: 0, default: 0, description: "Bytes." },
      wait_ms: { type: "integer", minimum: 0, default: 0 },
    },
    required: ["job"],
  },
  effect: "runs",
  destructive: false,
  idempotent: true,
  async run({ job, offset, wait_ms }, call) {
    const { session, settings, signal } = call;
    const waitMs = Math.min(wait_ms, longestWait);
    const output = await session
      .get(jobs)
      .output(jobIn(job, call), offset, { waitMs, limit: answerBytes(settings) - 300, signal });
    const { exit, bytes } = output.state;
    const state =
      exit === undefined
        ? "running"
        : howEnded(exit) + (exit.stopped === undefined ? "" : ` (${exit.stopped})`);
    const lines = [`job ${job} · ${state} · ${number(bytes)} bytes written`];
    if (output.offset > offset) lines.push(`[bytes ${offset}-${output.offset} are no longer kept]`);
    if (output.text !== "") lines.push(output.text.replace(/\n$/, ""));
    if (output.next < bytes || exit === undefined) lines.push(`[go on with offset=${output.next}]`);
    return text(lines.join("\n"));
  },
});
