// Shared by the tools that run commands: the sandbox, the caller's jobs, and the wording of how a command ended.
import type { CallContext } from "../../contract/context.ts";
import type { Slot } from "../../contract/session.ts";
import { Fault } from "../../engine/fault.ts";
import { Jobs } from "../../engine/shell/jobs.ts";
import type { Sandbox } from "../../engine/shell/launch.ts";
import { number } from "./answer.ts";

/** Each caller has its own, which end with it. */
export const jobs: Slot<Jobs> = {
  initial: () => new Jobs(),
  end: value => void value[Symbol.asyncDispose](),
};

/** The name of a job for callers. Where replicas serve the workspace, it says which one runs it. */
export function jobHandle(id: string, { workspace }: Pick<CallContext, "workspace">): string {
  const replica = workspace.replication?.replica;
  return replica === undefined ? id : `${id}@${replica}`;
}

/** The job that a handle names. Faults: `unknown_job` where another replica runs it. */
export function jobIn(handle: string, { workspace }: Pick<CallContext, "workspace">): string {
  const here = workspace.replication?.replica;
  const at = handle.indexOf("@");
  if (here === undefined || at < 0) return handle;
  const on = handle.slice(at + 1);
  if (on !== here) throw new Fault("unknown_job", { job: handle, on, here });
  return handle.slice(0, at);
}

/** Undefined only where the user allowed commands without a sandbox. */
export function sandboxFor(
  { engine, workspace, settings }: CallContext,
  network: boolean,
): Sandbox | undefined {
  if (settings.commands === "unsandboxed") return undefined;
  if (network && !settings.commandNetwork)
    throw new Fault("denied", {
      what: "commands may not use the network (the server was not started with --run-network)",
    });
  const sandbox = engine.confine?.(workspace, { network });
  if (sandbox === undefined) throw new Fault("no_sandbox", { problem: { is: "absent" } });
  return sandbox;
}

interface Ended {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** `exit 0`, `ended by SIGKILL` */
export function howEnded({ exitCode, signal }: Ended): string {
  return signal === null ? `exit ${exitCode ?? "?"}` : `ended by ${signal}`;
}

export function seconds(milliseconds: number): string {
  return milliseconds < 1000 ? `${milliseconds} ms` : `${number(Math.round(milliseconds / 100) / 10)} s`;
}
