// Exclusive claims between processes, as files in a directory. A claim names the process that holds it; when that
// process is gone, the next one takes the claim over. A claim is kept fresh (heartbeat.ts): a process of another PID
// namespace cannot be seen from here. Made by `link`, so a claim is never seen half written. What another
// process holds is asked for again and again; what this process holds is waited for until it is released.
import { randomBytes } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { keepFresh } from "../disk/heartbeat.ts";
import {
  identityIn,
  isAlive,
  isThisProcess,
  type ProcessIdentity,
  thisProcess,
} from "../disk/process-identity.ts";
import { sys } from "../disk/syscalls.ts";
import { errnoOf, faultOf, ifThere } from "../errno.ts";

export interface Claim extends Disposable {
  readonly name: string;
}

const waitMs = 15;
/** What this process holds: within it, its own identity proves nothing. */
const held = new Set<string>();
/** Emits the path of a claim that this process has released. */
const releases = new EventEmitter().setMaxListeners(0);

/** Undefined if a living process has it. */
export function claim(directory: string, name: string): Claim | undefined {
  const path = join(directory, name);
  const own = join(directory, `.${process.pid}-${randomBytes(6).toString("hex")}`);
  try {
    writeFileSync(own, JSON.stringify(thisProcess()), { mode: 0o600 });
    for (let round = 0; round < 5; round++) {
      try {
        sys.link(own, path);
        held.add(path);
        const beating = keepFresh(path);
        return { name, [Symbol.dispose]: () => release(path, beating) };
      } catch (error) {
        if (errnoOf(error) !== "EEXIST") throw error;
        if (isHeld(path)) return undefined;
        breakClaim(directory, path);
      }
    }
    return undefined;
  } catch (error) {
    throw faultOf(error, directory);
  } finally {
    discard(own);
  }
}

/** The same, waiting for it. */
export async function claimed(directory: string, name: string, signal?: AbortSignal): Promise<Claim> {
  const path = join(directory, name);
  for (;;) {
    const got = held.has(path) ? undefined : claim(directory, name);
    if (got !== undefined) return got;
    if (held.has(path)) await once(releases, path, { signal });
    else await setTimeout(waitMs, undefined, { signal });
  }
}

/** The claims that living processes hold. */
export function claimsIn(directory: string): string[] {
  return sys
    .names(directory)
    .map(String)
    .filter(name => !name.startsWith(".") && isHeld(join(directory, name)));
}

/** Removes what dead processes left. */
export function clearClaims(directory: string): void {
  for (const name of sys.names(directory).map(String)) {
    const path = join(directory, name);
    if (!isHeld(path)) breakClaim(directory, path);
  }
}

function release(path: string, beating: Disposable): void {
  beating[Symbol.dispose]();
  held.delete(path);
  try {
    remove(path);
  } finally {
    releases.emit(path);
  }
}

/** Whether the process that a file names lives. */
function isHeld(path: string): boolean {
  const stat = sys.lstat(path);
  if (stat === undefined) return false;
  let text: string | undefined;
  try {
    text = ifThere(() => readFileSync(path, "utf8"));
  } catch {
    return true; // it cannot be read just now
  }
  if (text === undefined) return false;
  const owner = identityIn(text);
  if (owner === undefined) return Date.now() - stat.mtimeMs < 10_000 && text === ""; // being written
  if (isThisProcess(owner)) return held.has(path) || path.includes("/.");
  return isAlive(owner, stat.mtimeMs, { isShared: () => false, isListening: () => undefined });
}

/** Removes the claim of a dead process. A claim that was taken over since is restored. */
function breakClaim(directory: string, path: string): void {
  const aside = join(directory, `.${process.pid}-${randomBytes(6).toString("hex")}`);
  try {
    sys.rename(path, aside);
    if (isHeldBy(aside)) sys.link(aside, path);
  } catch (error) {
    if (!["ENOENT", "EEXIST"].includes(errnoOf(error) ?? "")) throw error;
  }
  remove(aside);
}

function isHeldBy(aside: string): boolean {
  let owner: ProcessIdentity | undefined;
  try {
    owner = identityIn(readFileSync(aside, "utf8"));
  } catch {
    return true; // it cannot be read just now
  }
  return owner !== undefined && !isThisProcess(owner) && isHeld(aside);
}

/** A file that cannot be removed is left for `clearClaims`: the claim that it made is valid, and must be returned. */
function discard(path: string): void {
  try {
    sys.unlink(path);
  } catch {}
}

function remove(path: string): void {
  try {
    sys.unlink(path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw faultOf(error, path);
  }
}
