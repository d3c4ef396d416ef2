// The commands that run now, in any server of this user: where two run in the same directories, their changes cannot
// be told apart. Each is a file in the state directory, named after its process, so that the files of a killed server
// are recognised. Only the wording of answers depends on it, so a failure is harmless. The sandboxes that are in use are
// announced in the same way. Commits depend on those, so a sandbox that cannot be announced is not used.
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { clock } from "../../clock.ts";
import { errnoOf, ifThere, isAbsence, stateDirectory, system } from "../errno.ts";
import { isGone, thisMachine } from "../system/this-machine.ts";
import { isRelated } from "../within.ts";

/** How long a command of another PID namespace counts, whose process cannot be seen from here. */
const foreignMs = 10 * 60_000;
const lockName = "recording";
/** How long one command may take to record. Without the lock, a change may be recorded under two commands. */
const patienceMs = 5000;

export interface RunningCommand extends Disposable {
  /** Whether another command runs now in one of the same directories. */
  readonly isAccompanied: boolean;
  /** Waits until no other command is being recorded, and keeps others from it until this one is disposed of. */
  recordAlone(): Promise<void>;
}

/** Tells all servers that a command runs in some directories, until it is disposed of. */
export function announceCommand(state: string, roots: readonly string[]): RunningCommand {
  const folder = join(state, "commands");
  const { name, path, write } = announcement(folder, roots);
  let isAlone = false;
  make(folder);
  try {
    write();
  } catch {
    // no room, or nothing may be written there
  }
  return {
    get isAccompanied() {
      try {
        return namesIn(folder).some(
          other => other !== name && other !== lockName && isRunningIn(join(folder, other), other, roots),
        );
      } catch {
        return true; // that cannot be found out just now
      }
    },
    async recordAlone() {
      let owner: string | undefined;
      for (let until = clock() + patienceMs; !isAlone && clock() < until; ) {
        const now = lock(folder, name);
        isAlone = now === name;
        if (isAlone) return;
        if (now !== undefined && now !== owner) {
          owner = now; // another command is at its turn: it has as long as the one before
          until = clock() + patienceMs;
        }
        await setTimeout(5);
      }
    },
    [Symbol.dispose]() {
      remove(path);
      if (isAlone) remove(join(folder, lockName));
    },
  };
}

/**
 * Tells all servers that a sandbox shows some directories, until it is disposed of. It covers files by mounts, and a
 * rename over a covered file outside of the sandbox removes the cover inside: no commit may touch one meanwhile.
 */
export function announceSandbox(folder: string, roots: readonly string[]): Disposable {
  const { path, write } = announcement(folder, roots);
  try {
    write();
  } catch (error) {
    remove(path); // a full disk leaves an empty file
    throw error;
  }
  return { [Symbol.dispose]: () => remove(path) };
}

/** The directories that sandboxes show now. Throws where that is not known. */
export function rootsInSandboxes(state: string): string[] {
  const folder = join(state, "sandboxes");
  return system(stateDirectory, () => namesIn(folder).flatMap(name => rootsOf(join(folder, name), name)));
}

function announcement(folder: string, roots: readonly string[]) {
  const start = thisMachine().startOf(process.pid);
  const parts = [namespace(), process.pid, start, randomBytes(6).toString("hex")];
  const name = parts.join("-");
  const path = join(folder, name);
  const write = () => writeFileSync(path, JSON.stringify(roots), { mode: 0o600, flag: "wx" });
  return { name, path, write };
}

/** The command that has the lock now, if that is known: this one, where it was free. A dead process loses it. */
function lock(folder: string, name: string): string | undefined {
  const path = join(folder, lockName);
  try {
    writeFileSync(path, name, { mode: 0o600, flag: "wx" });
    return name;
  } catch {
    try {
      const owner = readFileSync(path, "utf8");
      const [where, pid = "", start = ""] = owner.split("-");
      if (owner !== "" && where === namespace() && isGone(Number(pid), start)) remove(path);
      return owner === "" ? undefined : owner;
    } catch {
      return undefined; // released in between
    }
  }
}

function isRunningIn(path: string, name: string, roots: readonly string[]): boolean {
  const others = rootsOf(path, name);
  return others.some(one => roots.some(root => isRelated(one, root)));
}

/** The directories of a command that runs now; none if it has ended. */
function rootsOf(path: string, name: string): string[] {
  const [where = "", pid = "", start = ""] = name.split("-");
  try {
    if (where !== namespace()) {
      if (Date.now() - statSync(path).mtimeMs >= foreignMs) return [];
    } else if (isGone(Number(pid), start)) {
      remove(path);
      return [];
    }
    return JSON.parse(readFileSync(path, "utf8")) as string[];
  } catch (error) {
    if (errnoOf(error) !== undefined && !isAbsence(error)) throw error;
    return []; // it ended while we looked, or has not begun
  }
}

/** "0" where there is only one. */
function namespace(): string {
  return thisMachine().namespace().replace(/\D/g, "") || "0";
}

function namesIn(folder: string): string[] {
  return ifThere(() => readdirSync(folder)) ?? [];
}

function make(folder: string): void {
  try {
    mkdirSync(folder, 0o700);
  } catch {
    // there already; without a state directory, no server records anything
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // gone
  }
}
