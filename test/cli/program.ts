// Starts the built program as a process, as users and clients do, and returns its output and how it ended.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export const repository = join(import.meta.dirname, "../..");
const program = join(repository, "dist/polyfs.cjs");

export interface Ending {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Circumstances {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly uid?: number;
}

/** Runs to the end; its input is empty unless given, so a server leaves at once. */
export function polyfs(args: readonly string[], { env, ...rest }: Circumstances = {}): Ending {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    input: "",
    encoding: "utf8",
    env: { ...cleanEnvironment(), ...env },
    ...rest,
  });
  return { code: status, stdout, stderr };
}

/** The directories that a start serves, in order, each as `path (access)`. */
export function served(args: readonly string[], circumstances?: Circumstances): string[] {
  const { code, stderr } = polyfs(
    ["--dialect", "agent-tools", "--log-level", "info", ...args],
    circumstances,
  );
  if (code !== 0) throw new Error(`ended with ${code}: ${stderr}`);
  return [...stderr.matchAll(/serving (.*)/g)].map(([, directory = ""]) => directory);
}

function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("POLYFS_")));
}

/** A temporary directory with these directories in it, gone after the test. */
export function tree(...directories: string[]): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-cli-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const directory of directories) mkdirSync(join(root, directory), { recursive: true });
  return root;
}
