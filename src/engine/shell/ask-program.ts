// Asks a small program of the system and waits for its answer. Only for what must be known at once and is asked rarely.
import { spawnSync } from "node:child_process";
import { delimiter } from "node:path";

const patienceMs = 2000;
/** A program that was started from a desktop may have a PATH without them. */
const systemPlaces = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];

/** What it prints. Undefined if it is missing, fails or takes too long. */
export function askProgram(program: string, args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync(program, args, {
    cwd: "/",
    // In one language and one time zone, so that two processes get the same answer.
    env: {
      PATH: [process.env.PATH, ...systemPlaces].filter(Boolean).join(delimiter),
      LC_ALL: "C",
      TZ: "UTC0",
    },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    timeout: patienceMs,
  });
  return status === 0 ? stdout : undefined;
}
