// Which process is this, and is that one still alive? A process is its number and the moment it started; the
// number alone is given to another process some day. Processes of other boots, containers and machines cannot
// be asked: they are alive as long as their heartbeat is fresh.
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

export interface ProcessIdentity {
  readonly pid: number;
  readonly start: string;
  /** Where the number means something: this boot of this machine, this process namespace. */
  readonly world: string;
}

export const heartbeatMs = 10_000;
const silenceMs = 3 * heartbeatMs;

let own: ProcessIdentity | undefined;

export function thisProcess(): ProcessIdentity {
  own ??= { pid: process.pid, start: startOf(process.pid) ?? "", world: worldOf() };
  return own;
}

export function bootId(): string {
  return thisProcess().world.split(" ")[0] ?? "";
}

export function isAlive(other: ProcessIdentity, heartbeat: number): boolean {
  const self = thisProcess();
  if (other.world !== self.world) return Date.now() - heartbeat < silenceMs;
  if (process.platform === "linux") return startOf(other.pid) === other.start;
  try {
    process.kill(other.pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** When the process started, as the system counts; undefined where it is gone, or dead and not yet buried. */
function startOf(pid: number): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function worldOf(): string {
  if (process.platform !== "linux") return hostname();
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    return `${boot} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname();
  }
}
