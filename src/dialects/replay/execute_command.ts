// `execute_command`: a shell command, run to its end or its timeout. It runs without a sandbox, as its contract
// specifies, unless the server is started with one, or without the tool.
import { constants } from "node:os";
import type { CallContext } from "../../contract/context.ts";
import { type Content, tool } from "../../contract/tool.ts";
import { Fault } from "../../engine/fault.ts";
import type { Captured } from "../../engine/shell/capture.ts";
import type { Sandbox } from "../../engine/shell/launch.ts";
import { type RunResult, run } from "../../engine/shell/run.ts";
import type { Directory } from "../../engine/workspace/directory.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import { readable } from "./paths.ts";

const longestSeconds = 60;
const graceMs = 3000;
const maxStreamBytes = 512 * 1024;

export const executeCommand = tool({
  name: "execute_command",
  title: "Execute command",
  description:
    "Run a shell command with /bin/sh -c, without input. Returns its output and its exit code. At the timeout it is " +
    "stopped with everything that it started; its output until then is kept (512 KB per stream).",
  input: {
    type: "object",
    properties: {
      command: { type: "string", description: "Shell command." },
      workingDirectory: {
        type: "string",
        description: "Absolute directory to run in. Default: the first allowed directory that is writable.",
      },
      timeout: { type: "integer", minimum: 1, default: 30, description: "Seconds (max 60)." },
    },
    required: ["command"],
  },
  effect: "runs",
  paths: ["workingDirectory"],
  async run({ command, workingDirectory, timeout }, call) {
    const sandbox = confined(call);
    using directory = directoryFor(call.workspace, workingDirectory);
    using _ = call.workspace.announceCommand();
    call.uncovered?.({ unknown: "not compared" });
    const result = await run(command, {
      directory,
      keep: { head: maxStreamBytes, tail: 0 },
      timeoutMs: Math.min(timeout, longestSeconds) * 1000,
      graceMs,
      leftovers: "keep",
      grant: call.grant,
      ...(sandbox && { sandbox }),
      signal: call.signal,
    });
    if (result.ended === "cancel") throw new Fault("cancelled", {});
    const { ended, stdout, stderr } = result;
    const code = exitCode(result);
    const output = withNewline(stdout.bytes === 0 ? "(no output)" : written(stdout));
    const content: Content[] = [
      {
        type: "text",
        text: `${ended === "timeout" ? "[command timed out]\n" : ""}${output}[exit code: ${code}]`,
      },
    ];
    if (stderr.bytes > 0) content.push({ type: "text", text: `[stderr]\n${written(stderr)}` });
    return code !== 0 || ended !== "exit" ? { content, isError: true } : { content };
  },
});

function directoryFor(workspace: Workspace, given: string | undefined): Directory {
  const root = workspace.roots.find(({ access }) => access === "read-write") ?? workspace.roots[0];
  return workspace.commandDirectory(readable(workspace, given ?? root?.path ?? ".").path);
}

function confined({ engine, workspace, settings }: CallContext): Sandbox | undefined {
  if (settings.commands !== "sandboxed") return undefined;
  const sandbox = engine.confine?.(workspace);
  if (sandbox === undefined) throw new Fault("no_sandbox", { problem: { is: "absent" } });
  return sandbox;
}

/** As shells count it: 128 and the signal's number where a signal ended it. */
function exitCode({ exitCode, signal }: RunResult): number {
  return exitCode ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}

function written({ head, truncated }: Captured): string {
  return truncated ? `${withNewline(head)}[output truncated at 512 KB]` : head;
}

function withNewline(output: string): string {
  return output.endsWith("\n") ? output : `${output}\n`;
}
