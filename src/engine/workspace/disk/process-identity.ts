// Identifies this process, and decides whether another one is alive. From the most to the least certain:
//
//   - In the same process namespace, a process is its pid and its start time.
//   - In another namespace of the same boot (a container), the pid means nothing here. Its liveness socket
//     decides: the kernel closes it with the process (liveness-socket.ts).
//   - Where the system does not report start times (Windows, Linux without /proc), a pid may have been reused: the
//     liveness socket decides here too.
//   - In another boot the process is dead, if only one machine can have the file system mounted. On a network
//     file system it may run on another machine: it counts as alive while its heartbeat is fresh.

import { hostname, uptime } from "node:os";
import { once } from "../../once.ts";
import { thisMachine } from "../system/this-machine.ts";
import { isFresh } from "./heartbeat.ts";

export interface ProcessIdentity {
  readonly pid: number;
  readonly start: string;
  /** Where the pid is valid: this boot of this machine, this process namespace. */
  readonly world: string;
  /** The name of its liveness socket, if it has one. */
  readonly socket?: string;
}

/** How the caller can check an identity that it found. */
export interface LivenessChecks {
  /** Whether other machines may use the same files. */
  readonly isShared: () => boolean;
  /** Whether a liveness socket accepts connections; undefined if that cannot be determined. */
  readonly isListening: (socket: string) => boolean | undefined;
}

export const thisProcess = once(
  (): ProcessIdentity => ({
    pid: process.pid,
    start: thisMachine().startOf(process.pid) ?? "",
    world: worldOf(),
  }),
);

export function isThisProcess({ pid, start, world }: ProcessIdentity): boolean {
  const self = thisProcess();
  return pid === self.pid && start === self.start && world === self.world;
}

/** Which boot of the machine this is. Where the system does not say, its time, to ten minutes. */
export const bootId = once(() => {
  const boot = bootOf(thisProcess());
  return isBootId(boot) ? boot : `${boot} ${Math.round((Date.now() / 1000 - uptime()) / 600)}`;
});

export function isAlive(other: ProcessIdentity, heartbeat: number, around: LivenessChecks): boolean {
  const start = startHere(other);
  if (start === undefined) return false;
  if (start === "elsewhere") {
    if (isOtherBoot(other)) return around.isShared() && isFresh(heartbeat);
    const answer = other.socket === undefined ? undefined : around.isListening(other.socket);
    return answer ?? isFresh(heartbeat);
  }
  if (start !== "" && other.start !== "") return start === other.start;
  // Its pid is in use. A fresh heartbeat shows that it is still its own, and saves the thread that asks its socket.
  return other.socket === undefined || isFresh(heartbeat) || around.isListening(other.socket) !== false;
}

/** Whether only its liveness socket can show it. */
export function needsSocket(other: ProcessIdentity): boolean {
  return (other.world !== thisProcess().world && !isOtherBoot(other)) || other.start === "";
}

/** The start of the process that has its pid now (`Machine.startOf`); "elsewhere" for a pid of another namespace. */
function startHere(other: ProcessIdentity): string | undefined {
  return other.world === thisProcess().world ? thisMachine().startOf(other.pid) : "elsewhere";
}

/** Whether it ran in another boot than this one, of this machine or of another. */
function isOtherBoot(other: ProcessIdentity): boolean {
  const own = bootOf(thisProcess());
  return [own, bootOf(other)].every(isBootId) && bootOf(other) !== own;
}

/** Parses an owner file; undefined if it is malformed. */
export function identityIn(text: string): ProcessIdentity | undefined {
  try {
    const { pid, start, world, beacon: socket } = JSON.parse(text);
    if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
    if (typeof start !== "string" || typeof world !== "string") return undefined;
    return { pid, start, world, ...(isSocketName(socket) && { socket }) };
  } catch {
    return undefined;
  }
}

function isSocketName(name: unknown): name is string {
  return typeof name === "string" && /^[0-9a-z-]{1,64}$/.test(name);
}

function bootOf({ world }: ProcessIdentity): string {
  return world.split(" ")[0] ?? "";
}

function isBootId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
}

function worldOf(): string {
  const machine = thisMachine();
  const boot = machine.boot();
  return boot === undefined ? hostname() : `${boot} ${machine.namespace()}`;
}
