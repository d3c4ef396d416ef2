// `bash`: runs a command by `sh -c`. Waits only for the command itself: background processes continue.
import { constants } from "node:os";
import type { CallContext } from "../../contract/context.ts";
import { text, tool } from "../../contract/tool.ts";
import { Fault } from "../../engine/fault.ts";
import type { Sandbox } from "../../engine/shell/launch.ts";
import { type RunResult, run } from "../../engine/shell/run.ts";
import { refusal } from "./failure.ts";
import { pathAt } from "./names.ts";
import { Streams, type StreamTexts } from "./streams.ts";

/** What one stream may have before the command is stopped. */
const ceiling = 8 * 1024 * 1024;

export const bash = tool({
  name: "bash",
  title: "Run command",
  description:
    "Run a shell command with `sh -c` and return JSON: exit_code, stdout, stderr, signal, timed_out. A non-zero exit " +
    "is a normal result. Blocks until the command exits, with stdin closed; put a long-lived process into the " +
    "background: `npm start > /tmp/out.log 2>&1 &`. Output that is too long is cut, and the whole of it saved in " +
    "a file that the result names.",
  input: {
    type: "object",
    properties: {
      command: { type: "string", description: "The shell command." },
      cwd: { type: "string", description: "Working directory. Default: the workspace root." },
      timeout_ms: {
        type: "integer",
        minimum: 1,
        description:
          "Maximum run time in milliseconds. Default 120000; larger than 600000 is clamped to that.",
      },
    },
    required: ["command"],
    additionalProperties: false,
  },
  effect: "runs",
  paths: ["cwd"],
  async run({ command, cwd = ".", timeout_ms }, call) {
    const { commandTimeoutMs, commandTimeoutMaxMs, maxOutputBytes } = call.settings;
    const timeoutMs = Math.min(timeout_ms ?? commandTimeoutMs, commandTimeoutMaxMs);
    const sandbox = confined(call);
    using directory = call.workspace.commandDirectory(pathAt(call, cwd));
    const streams = new Streams();
    using _ = call.workspace.announceCommand();
    call.uncovered?.({ unknown: "not compared" });
    const result = await run(command, {
      directory,
      keep: { head: 0, tail: 0 },
      ceiling,
      timeoutMs,
      leftovers: "keep",
      grant: call.grant,
      ...(sandbox && { sandbox }),
      signal: call.signal,
      sink: (chunk, stream) => streams.push(chunk, stream),
      progress: {
        everyMs: 1000,
        bytes: 200,
        tell: (tail, ms) => call.progress(ms, timeoutMs, lastLine(tail)),
      },
    });
    if (result.ended === "cancel") throw new Fault("cancelled", {});
    const output = await streams.within(maxOutputBytes, call);
    switch (result.ended) {
      case "timeout":
        return refusal("timeout", `Command timed out after ${timeoutMs} ms and was killed`, {
          timeout_ms: timeoutMs,
          ...output,
        });
      case "output_limit":
        return refusal(
          "output_limit",
          `Command wrote more than ${ceiling} bytes to one stream and was killed; redirect its output to a file`,
          { limit: ceiling, ...output },
        );
      case "disk_full":
        return refusal("io_error", "Command ran out of disk space and was killed", { ...output });
      default:
        return text(JSON.stringify(answer(result, output)));
    }
  },
});

/** Undefined if the user did not ask for a sandbox: this contract's commands run without one. */
function confined({ engine, workspace, settings }: CallContext): Sandbox | undefined {
  const sandbox = engine.confine?.(workspace);
  if (settings.commands === "sandboxed" && sandbox === undefined) {
    throw new Fault("no_sandbox", { problem: { is: "absent" } });
  }
  return sandbox;
}

/** A command that a signal ended has the exit code that a shell would report. */
function answer({ exitCode, signal }: RunResult, { stdout, stderr }: StreamTexts) {
  const exit_code = signal === null ? exitCode : 128 + constants.signals[signal];
  return { exit_code, stdout, stderr, signal, timed_out: false };
}

function lastLine(output: string): string {
  return output.trimEnd().split("\n").at(-1) ?? "";
}
