// The running commands of all servers of this user. If two run in the same directories, their changes cannot be
// attributed. Each is a file in the state directory, named after its process, so that the files of a killed server
// are recognised. A command that begins tells those that run, because it may end before they do. Undo depends on it: what
// a command of another connection may have made is taken back only by its path. If it cannot be found out, there was
// such a command. The sandboxes that are in use are announced in the same way. Commits depend on those, so a sandbox
// that cannot be announced is not used.
import { randomBytes } from "node:crypto";
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { clock } from "../../clock.ts";
import { LruMap } from "../../lru-map.ts";
import { type DirectoryStamp, isSame, isSettled, markOf } from "../directory-stamp.ts";
import { isFresh, keepFresh } from "../disk/heartbeat.ts";
import { unlinkIfSame } from "../disk/if-there.ts";
import { errnoOf, ifThere, isAbsence, stateDirectory, system } from "../errno.ts";
import { Rules, type WrittenRules } from "../rules.ts";
import { isGone, thisMachine } from "../system/this-machine.ts";
import { isRelated, isWithin } from "../within.ts";

/** How long a command of another PID namespace counts after its last heartbeat; earlier versions have none. */
const foreignMs = 10 * 60_000;
const lockName = "recording";
/** Of the list of commands that have begun while one ran. */
const metSuffix = ".met";
const nowhere: Announced = { roots: [] };
/** How long one command may take to record. Without the lock, a change may be recorded under two commands. */
const patienceMs = 5000;

/** Whose commands have run in some of the same directories at the same time: of the same connection, or of others. */
export type Company = "none" | "own" | "others";

export interface RunningCommand extends Disposable {
  /** Since it began. */
  readonly company: Company;
  /** Waits until no other command is being recorded, and keeps others from it until this one is disposed of. */
  recordAlone(): Promise<void>;
}

/** Tells all servers that a command of a connection runs in some directories, until it is disposed of. */
export function announceCommand(
  state: string,
  roots: readonly string[],
  connection: string | undefined,
): RunningCommand {
  const folder = join(state, "commands");
  const { name, path, write, end } = announcement(folder, { roots, connection });
  let isAlone = false;
  let recording: Disposable | undefined;
  let company: Company = "none";
  const meet = (others: readonly (string | undefined)[]) => {
    for (const other of others)
      if (company !== "others") company = other !== undefined && other === connection ? "own" : "others";
  };
  make(folder);
  try {
    write();
    // Of two that begin at once, at least one sees the other.
    for (const [other, whose] of runningIn(folder, name, roots)) {
      appendFileSync(join(folder, other + metSuffix), `${JSON.stringify(connection ?? null)}\n`, {
        mode: 0o600,
      });
      meet([whose]);
    }
  } catch {
    company = "others"; // no room, or nothing may be written there
  }
  return {
    get company() {
      try {
        meet([...runningIn(folder, name, roots).values()]);
        meet(metBy(path + metSuffix));
      } catch {
        company = "others"; // that cannot be found out just now
      }
      return company;
    },
    async recordAlone() {
      let owner: string | undefined;
      for (let until = clock() + patienceMs; !isAlone && clock() < until; ) {
        const now = lock(folder, name);
        isAlone = now === name;
        if (isAlone) {
          recording = keepFresh(join(folder, lockName));
          return;
        }
        if (now !== undefined && now !== owner) {
          owner = now; // another command is at its turn: it has as long as the one before
          until = clock() + patienceMs;
        }
        await setTimeout(5);
      }
    },
    [Symbol.dispose]() {
      end();
      remove(path + metSuffix);
      recording?.[Symbol.dispose]();
      if (isAlone) unlock(folder, name);
    },
  };
}

/** Directories that a sandbox shows, and the rules about them. */
export interface ShownDirectories {
  readonly roots: readonly string[];
  readonly rules: WrittenRules;
}

export interface AnnouncedSandbox {
  readonly roots: readonly string[];
  readonly shown: readonly ShownDirectories[];
  /** What it covers whatever the rules say. */
  readonly hidden?: readonly string[];
}

/**
 * Tells all servers that a sandbox shows some directories, until it is disposed of. It covers files by mounts, and a
 * rename over a covered file outside of the sandbox removes the cover inside: no commit may touch one meanwhile. What is
 * covered depends on the rules that the command's caller is under; others may be under other ones.
 */
export function announceSandbox(folder: string, sandbox: AnnouncedSandbox): Disposable {
  const { write, end } = announcement(folder, sandbox);
  try {
    write();
  } catch (error) {
    end(); // a full disk leaves an empty file
    throw error;
  }
  return { [Symbol.dispose]: end };
}

/** A sandbox that shows directories now. */
export interface RunningSandbox {
  readonly name: string;
  readonly roots: readonly string[];
  /** Whether it has a mount at a path. `own`: the asking caller's rules, for a sandbox that does not tell its own. */
  covers(at: string, own: Rules): boolean;
}

/** By their announcements, which do not change. */
const known = new LruMap<string, RunningSandbox>(1000);
/** By what was written. Many commands run under the same rules, and compiled rules remember what they decided. */
const views = new LruMap<string, readonly RulesView[]>(16);

interface RulesView {
  readonly roots: readonly string[];
  readonly rules: Rules;
}

function viewsOf(shown: readonly ShownDirectories[]): readonly RulesView[] {
  const key = JSON.stringify(shown);
  const read = views.get(key) ?? shown.map(({ roots, rules }) => ({ roots, rules: Rules.read(rules) }));
  views.set(key, read);
  return read;
}

/** The folders of announcements in which there was none. */
const empty = new Map<string, DirectoryStamp>();

/** The sandboxes that show directories now. Throws where that is not known. */
export function runningSandboxes(state: string): readonly RunningSandbox[] {
  const folder = join(state, "sandboxes");
  return system(stateDirectory, () => {
    const stat = statSync(folder, { throwIfNoEntry: false });
    const before = empty.get(folder);
    if (stat === undefined || (before !== undefined && isSame(stat, before))) return [];
    const now = Date.now();
    const names = namesIn(folder);
    if (names.length === 0 && isSettled(stat, now)) empty.set(folder, markOf(stat));
    return names.flatMap(name => sandboxAt(join(folder, name), name) ?? []);
  });
}

function sandboxAt(path: string, name: string): RunningSandbox | undefined {
  const read = (): RunningSandbox | undefined => {
    const { roots, shown, hidden = [] } = announcedIn(path);
    const under = shown && viewsOf(shown);
    const covered = new Set(hidden);
    const sandbox: RunningSandbox = {
      name,
      roots,
      covers(at, own) {
        if (covered.has(at)) return true;
        return (under ?? [{ roots, rules: own }]).some(
          view => view.roots.some(root => isWithin(at, root)) && view.rules.isCovered(at, view.roots),
        );
      },
    };
    known.set(path, sandbox);
    return sandbox;
  };
  return whileRunning(path, name, () => known.get(path) ?? read());
}

/** In an announcement. Servers of older versions announce the directories alone. */
interface Announced {
  readonly roots: readonly string[];
  /** Of a command. */
  readonly connection?: string | undefined;
  /** Of a sandbox. */
  readonly shown?: readonly ShownDirectories[] | undefined;
  readonly hidden?: readonly string[] | undefined;
}

function announcement(folder: string, announced: Announced) {
  const start = thisMachine().startOf(process.pid);
  const parts = [namespace(), process.pid, start, randomBytes(6).toString("hex")];
  const name = parts.join("-");
  const path = join(folder, name);
  let beating: Disposable | undefined;
  const write = () => {
    writeFileSync(path, JSON.stringify(announced), { mode: 0o600, flag: "wx" });
    beating = keepFresh(path);
  };
  const end = () => {
    beating?.[Symbol.dispose]();
    remove(path);
  };
  return { name, path, write, end };
}

/**
 * The command that has the lock now, if that is known: this one, where it was free. A dead process loses it; of one in
 * another PID namespace, and of one that has not written its name, the heartbeat tells.
 */
function lock(folder: string, name: string): string | undefined {
  const path = join(folder, lockName);
  try {
    writeFileSync(path, name, { mode: 0o600, flag: "wx" });
    return name;
  } catch {
    try {
      const { ino, mtimeMs } = statSync(path);
      const owner = readFileSync(path, "utf8");
      const [where, pid = "", start = ""] = owner.split("-");
      const isDead = where === namespace() ? isGone(Number(pid), start) : !isFresh(mtimeMs);
      if (isDead) unlinkIfSame(path, ino);
      return owner === "" ? undefined : owner;
    } catch {
      return undefined; // released in between
    }
  }
}

/** Another process may have taken it from this one, if this one did not run for a while. */
function unlock(folder: string, name: string): void {
  const path = join(folder, lockName);
  try {
    if (readFileSync(path, "utf8") === name) unlinkSync(path);
  } catch {
    // gone
  }
}

/** The other commands that run now in some of these directories, with their connections. */
function runningIn(folder: string, name: string, roots: readonly string[]): Map<string, string | undefined> {
  const found = new Map<string, string | undefined>();
  for (const other of namesIn(folder)) {
    if (other === name || other === lockName) continue;
    if (other.endsWith(metSuffix)) {
      removeIfAlone(folder, other);
      continue;
    }
    const announced = announcedAt(join(folder, other), other);
    if (announced.roots.some(one => roots.some(root => isRelated(one, root))))
      found.set(other, announced.connection);
  }
  return found;
}

/** The connections whose commands have begun since, and may have ended. */
function metBy(path: string): (string | undefined)[] {
  const text = ifThere(() => readFileSync(path, "utf8")) ?? "";
  return text
    .split("\n")
    .filter(line => line !== "")
    .map(line => (JSON.parse(line) as string | null) ?? undefined);
}

/** The command of such a list has ended while another one wrote to it. */
function removeIfAlone(folder: string, name: string): void {
  const command = join(folder, name.slice(0, -metSuffix.length));
  if (ifThere(() => statSync(command)) === undefined) remove(join(folder, name));
}

/** What a command that runs now has announced; no directories if it has ended. */
function announcedAt(path: string, name: string): Announced {
  return whileRunning(path, name, () => announcedIn(path)) ?? nowhere;
}

function announcedIn(path: string): Announced {
  const read = JSON.parse(readFileSync(path, "utf8")) as Announced | readonly string[];
  return "roots" in read ? read : { roots: read };
}

/** Undefined if the process that has announced something has ended, or what it announced is over. */
function whileRunning<T>(path: string, name: string, read: () => T): T | undefined {
  const [where = "", pid = "", start = ""] = name.split("-");
  try {
    if (where !== namespace()) {
      if (Date.now() - statSync(path).mtimeMs >= foreignMs) return undefined;
    } else if (isGone(Number(pid), start)) {
      remove(path);
      return undefined;
    }
    return read();
  } catch (error) {
    if (errnoOf(error) !== undefined && !isAbsence(error)) throw error;
    return undefined; // it ended while we looked, or has not begun
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
