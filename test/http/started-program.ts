// The program that users start, serving over HTTP on a port of its own choice.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { repository } from "../cli/program.ts";
import { tree } from "./fixture.ts";

export interface Program {
  readonly url: string;
  signal(name: NodeJS.Signals): void;
  /** Nobody reads its standard error any more. */
  closeLog(): void;
  /** What it has said on standard error so far. */
  said(): string;
  /** How it ended, and what it said. */
  readonly ended: Promise<{ code: number | null; stderr: string }>;
}

export async function startOverHttp(...args: readonly string[]): Promise<Program> {
  return await startWith({}, ...args);
}

/** The same with further environment variables. */
export async function startWith(
  environment: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<Program> {
  return await started([process.execPath], environment, args);
}

/** The same with no more than so many open files. */
export async function startWithFewFiles(most: number, ...args: readonly string[]): Promise<Program> {
  const limited = ["/bin/sh", "-c", `ulimit -n ${most}; exec "$0" "$@"`, process.execPath];
  return await started(limited, {}, args);
}

async function started(
  [command = "", ...before]: readonly string[],
  environment: Readonly<Record<string, string>>,
  args: readonly string[],
): Promise<Program> {
  const child = spawn(command, [...before, join(repository, "dist/polyfs.cjs"), "--http", "0", ...args], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, POLYFS_STATE_DIR: tree(), ...environment },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stderr = "";
  const ended = new Promise<{ code: number | null; stderr: string }>(resolve =>
    child.once("close", code => resolve({ code, stderr })),
  );
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      stderr += chunk;
      const [found] = /https?:\/\/[^/\s]+(?=\/mcp.*\n)/.exec(stderr) ?? [];
      if (found !== undefined) resolve(found);
    });
    void ended.then(() => reject(new Error(`ended: ${stderr}`)));
  });
  const closeLog = () => void child.stderr.destroy();
  return { url, signal: name => void child.kill(name), closeLog, said: () => stderr, ended };
}
