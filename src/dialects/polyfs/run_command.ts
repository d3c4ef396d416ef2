// `run_command`: a command for the shell, in the sandbox that the user allowed: run to its end, or in the background.
import type { CallContext } from "../../contract/context.ts";
import { type Reply, text } from "../../contract/tool.ts";
import { Fault } from "../../engine/fault.ts";
import { Before, record } from "../../engine/history/footprint.ts";
import { uncoveredIn } from "../../engine/history/uncovered.ts";
import type { Sandbox } from "../../engine/shell/launch.ts";
import { type RunResult, run } from "../../engine/shell/run.ts";
import type { Directory } from "../../engine/workspace/directory.ts";
import { answerBytes, number } from "./answer.ts";
import { howEnded, jobHandle, jobs, sandboxFor, seconds } from "./commands.ts";
import { footprintLines } from "./footprint-lines.ts";
import { CommandOutput } from "./output.ts";
import { pathAt } from "./paths.ts";
import { polyfsTool } from "./polyfs-tool.ts";

/** A command that writes more is stopped. */
const ceiling = 16 * 1024 * 1024;

export const runCommand = polyfsTool({
  name: "run_command",
  title: "Run command",
  description: "Run a shell command; its changes are listed and can be undone.",
  input: {
    type: "object",
    properties: {
      command: { type: "string" },
      cwd: { type: "string", default: "." },
      timeout_ms: { type: "integer", minimum: 1, description: "Default 120000." },
      background: { type: "boolean", description: "Returns a job." },
      network: { type: "boolean" },
    },
    required: ["command"],
  },
  effect: "runs",
  paths: ["cwd"],
  async run({ command, cwd, timeout_ms, background, network = false }, call) {
    const sandbox = sandboxFor(call, network);
    using directory = call.workspace.commandDirectory(pathAt(call, cwd));
    const start = { directory, network, ...(sandbox && { sandbox }) };
    if (background) return await inBackground(command, start, timeout_ms, call);
    const { commandTimeoutMs, commandTimeoutMaxMs } = call.settings;
    return await toItsEnd(
      command,
      start,
      Math.min(timeout_ms ?? commandTimeoutMs, commandTimeoutMaxMs),
      call,
    );
  },
});

interface Start {
  readonly directory: Directory;
  readonly network: boolean;
  readonly sandbox?: Sandbox;
}

async function inBackground(
  command: string,
  start: Start,
  timeoutMs: number | undefined,
  call: CallContext,
): Promise<Reply> {
  const { session, workspace } = call;
  if (!session.lasting)
    throw new Fault("denied", {
      what: "this connection ends with the call, and background commands end with it",
    });
  const running = workspace.announceCommand();
  const onEnd = () => running[Symbol.dispose]();
  const options = { ...start, onEnd, ...(timeoutMs !== undefined && { timeoutMs }) };
  call.uncovered?.({ unknown: "background" });
  const { id } = await session.get(jobs).start(command, options);
  return text(
    `job ${jobHandle(id, call)}\n[started; command_output shows its output, stop_command ends it. Its changes are not recorded for undo]`,
  );
}

async function toItsEnd(command: string, start: Start, timeoutMs: number, call: CallContext): Promise<Reply> {
  const { signal, workspace, session } = call;
  using before = await Before.look(workspace, signal);
  call.uncovered?.({ unknown: "not compared" }); // until it is, which may fail
  const output = new CommandOutput();
  const result = await run(command, {
    ...start,
    merged: true,
    keep: { head: 0, tail: 0 },
    ceiling,
    timeoutMs,
    signal,
    sink: chunk => output.push(chunk),
    progress: {
      everyMs: 1000,
      bytes: 200,
      tell: (tail, ms) => call.progress(ms, timeoutMs, tail.trimEnd().split("\n").at(-1)),
    },
  });
  // The file that it may go into comes first, so that the last change is the command's.
  const shown = await output.within(answerBytes(call.settings) / 2, call);
  const footprint = await before.compare();
  call.uncovered?.(uncoveredIn(footprint));
  const change = await record(workspace, footprint, {
    action: "run_command",
    client: session.client,
    connection: session.connection,
  });
  if (result.ended === "cancel") throw new Fault("cancelled", {});
  const lines = [
    ...opening(result, timeoutMs),
    shown,
    ...(await footprintLines(footprint, change, call)),
    ...(workspace.asksBeforeChanges && isAboutReadOnly(shown) ? [readOnlyHint] : []),
    ...(start.sandbox ? sandboxHints(shown, start, call) : []),
  ];
  const answer = text(lines.filter(line => line !== "").join("\n"));
  return result.ended === "exit" ? answer : { ...answer, isError: true };
}

const readOnlyHint =
  "[paths that need approval are read-only for commands; change them with the file tools, or ask the user for: polyfs grant PATH --write --delete]";

function isAboutReadOnly(output: string): boolean {
  return /read-only file system|EROFS/i.test(output);
}

/** What the sandbox is likely to be the reason of, judging by what programs say. */
function sandboxHints(output: string, { network }: Start, { settings }: CallContext): string[] {
  const hints: string[] = [];
  if (!network && isAboutNetwork(output))
    hints.push(
      settings.commandNetwork
        ? "[commands have no network, unless network is true]"
        : "[commands have no network; the user can allow it with --run-network]",
    );
  if (process.geteuid?.() === 0 && /: permission denied|\bEACCES\b/i.test(output))
    hints.push(
      "[commands run as root without its capabilities: files of other owners are not theirs to change]",
    );
  return hints;
}

function isAboutNetwork(output: string): boolean {
  return /could not resolve|failure in name resolution|network is unreachable|\b(EAI_AGAIN|ENETUNREACH)\b/i.test(
    output,
  );
}

function opening(result: RunResult, timeoutMs: number): string[] {
  switch (result.ended) {
    case "timeout":
      return [
        `timeout: the command took longer than ${number(timeoutMs)} ms and was stopped`,
        "Raise timeout_ms, or run it with background: true. Its output so far:",
      ];
    case "output_limit":
      return [
        "too_large: the command wrote more than 16 MB and was stopped",
        "Redirect its output to a file. It began with:",
      ];
    case "disk_full":
      return [
        "io: the command nearly filled the disk and was stopped",
        "Free some space first. Its output so far:",
      ];
    default:
      return [`${howEnded(result)} · ${seconds(result.milliseconds)}`];
  }
}
