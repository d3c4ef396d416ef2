// Which commands run now, in any server of this user: where two run in the same directories at once, what each of them
// changed cannot be told apart. Each is a file in the state directory, named after its process, so that what a killed
// server leaves behind is recognised. Nothing depends on it but what answers say, so a failure costs only that.
import { randomBytes } from "node:crypto";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { isWithin } from "../root.ts";
import { findProcess } from "../system/processes.ts";

/** How long a command of another PID namespace counts, whose process cannot be seen from here. */
const foreignMs = 10 * 60_000;

export interface RunningCommand extends Disposable {
  /** Whether another command runs now in one of the same directories. */
  readonly isAccompanied: boolean;
}

/** Tells all servers that a command runs in some directories, until it is disposed of. */
export function announceCommand(state: string, roots: readonly string[]): RunningCommand {
  const folder = join(state, "commands");
  const name = [namespace, process.pid, startOf(process.pid), randomBytes(6).toString("hex")].join("-");
  const path = join(folder, name);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(path, JSON.stringify(roots), { mode: 0o600, flag: "wx" });
  } catch {
    // no room, or nothing may be written there
  }
  return {
    get isAccompanied() {
      return namesIn(folder).some(other => other !== name && isRunningIn(join(folder, other), other, roots));
    },
    [Symbol.dispose]: () => remove(path),
  };
}

function isRunningIn(path: string, name: string, roots: readonly string[]): boolean {
  const [where = "", pid = "", start = ""] = name.split("-");
  try {
    if (where !== namespace) return Date.now() - statSync(path).mtimeMs < foreignMs;
    if (startOf(Number(pid)) !== start) {
      remove(path);
      return false;
    }
    const others = JSON.parse(readFileSync(path, "utf8")) as string[];
    return others.some(one => roots.some(root => isWithin(one, root) || isWithin(root, one)));
  } catch {
    return false; // it ended while we looked
  }
}

const namespace = pidNamespace();

function pidNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid").replace(/\D/g, "");
  } catch {
    return "0";
  }
}

/** Tells a process from a later one with the same number, where the system tells when it was started. */
function startOf(pid: number): string {
  return String(findProcess(pid)?.start ?? "0");
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // gone
  }
}
