// The commands that run now, with what they left in the background. None outlives the server: if it exits without having
// stopped them, it kills them last; if it is killed, orphans.ts does.
import { atExit, cancelAtExit } from "../at-exit.ts";
import { clock } from "../clock.ts";
import { listProcesses, type ProcessEntry } from "../workspace/system/processes.ts";
import type { Family } from "./family.ts";
import type { CallerGrant, CommandLaunch } from "./launch.ts";
import { endWithServer } from "./orphans.ts";

const living = new Set<Family>();

export interface Tracked extends Disposable {
  /** Adds the first process of the family's own namespace, which leads a group of its own. */
  admit(pid: number): void;
}

/** Remembers a family until it is disposed of. */
export function keepTrack(family: Family): Tracked {
  const kill = () => void family.signal("SIGKILL");
  atExit(kill);
  living.add(family);
  const guarded = [endWithServer(family.leader, family.mark)];
  return {
    admit(pid) {
      family.admit(pid);
      guarded.push(endWithServer(pid, family.mark));
    },
    [Symbol.dispose]() {
      cancelAtExit(kill);
      living.delete(family);
      for (const one of guarded) one[Symbol.dispose]();
    },
  };
}

/** How many commands run now. */
export function runningCommands(): number {
  return living.size;
}

/** A command that has ended, and whose processes may live. */
interface EndedCommand {
  readonly family: Family;
  readonly tracked: Tracked;
  readonly launch: CommandLaunch;
  readonly grant: CallerGrant | undefined;
  /** It was stopped: what lives nevertheless is killed whenever it is seen. */
  stopped: boolean;
}

const remaining = new Map<EndedCommand, Disposable | undefined>();
/** How often they are looked at, unless that takes more than a tenth of the time. */
const lookMs = 250;

/**
 * Releases a command when the last of its processes has ended. Until then its launch stays, because they see what it
 * covers and can fill the disk, and its caller's grant is in use. They end with the grant.
 */
export function releaseAtEnd(ended: EndedCommand): void {
  if (isOver(ended)) release(ended);
  else {
    if (remaining.size === 0) setTimeout(look, lookMs).unref();
    remaining.set(ended, ended.grant?.use());
  }
}

function look(): void {
  const begun = clock();
  let listed: ProcessEntry[] | undefined;
  const list = () => {
    listed ??= listProcesses();
    return listed;
  };
  for (const one of remaining.keys()) if (isOver(one, list)) release(one);
  if (remaining.size > 0) setTimeout(look, Math.max(lookMs, 10 * (clock() - begun))).unref();
}

function isOver(one: EndedCommand, list?: () => ProcessEntry[]): boolean {
  if (!one.family.lives(list)) return true;
  one.stopped ||= one.grant?.ended === true || one.launch.isExhausted?.() === true;
  if (one.stopped) one.family.signal("SIGKILL");
  return false;
}

function release(one: EndedCommand): void {
  const used = remaining.get(one);
  remaining.delete(one);
  one.tracked[Symbol.dispose]();
  one.launch.release?.();
  used?.[Symbol.dispose]();
}
