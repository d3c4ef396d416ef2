// The state that must outlive this process: a directory of the user, never in the workspace. Each process has a
// folder in it, with its journals and an owner file that identifies it. Lock files are hard links of that file:
// created in one step, they are never empty.
//
//   key                   authenticates journals
//   boot                  the boot since which nothing is left to recover
//   locks/<hash>          the holder of a name
//   departures/<id>.<n>   directories that a commit of a process moves or removes
//   aside/…               old content of files, until it is recorded
//   alive/<id>            the liveness socket of a process
//   processes/<id>/owner  pid, start, world, socket; its mtime is the heartbeat
//   processes/<id>/left   of a dead process: since when recovery has left something to later attempts
//   processes/<id>/…      journals, and the folders of dead processes that this one recovers
//
// A process takes over a dead process's folder by renaming it into its own: only one can succeed.

import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { basename, dirname, join } from "node:path";
import { append } from "../../append.ts";
import { Fault } from "../../fault.ts";
import { conceal } from "../concealed.ts";
import { heartbeatMs } from "../disk/heartbeat.ts";
import { type FoundDirectory, marksOf } from "../disk/held-directories.ts";
import { contentAt, namesIn, unlinkIfSame, unlinkIfThere } from "../disk/if-there.ts";
import {
  identityIn,
  isAlive,
  type LivenessChecks,
  needsSocket,
  type ProcessIdentity,
  thisProcess,
} from "../disk/process-identity.ts";
import { flushAndClose, sys, writeAll } from "../disk/syscalls.ts";
import { errnoOf, faultOf, stateDirectory, system, unlessFailing } from "../errno.ts";
import { display, Handle } from "../handle.ts";
import { isOfOneMachine } from "../system/file-system.ts";
import { onWindows } from "../windows-path.ts";
import { invalidate } from "./journal.ts";
import { keyOf } from "./key.ts";
import { hasEnded, isListening, isListeningNow, LivenessSocket } from "./liveness-socket.ts";
import { purge } from "./purge.ts";
import { giveUpOwnPlace, statePath, temporaryState } from "./state-path.ts";

const mostOwnerBytes = 4096;
export const keepMs = 7 * 24 * 3_600_000;

/** A directory for old content of files on the same disk, invisible in workspace listings. */
export interface Aside {
  readonly handle: Handle;
  readonly record: FoundDirectory;
}

export class StateDirectory {
  readonly path: string;
  readonly own: string;
  readonly owner: string;
  readonly #heartbeat: NodeJS.Timeout;
  #ownerInode = -1;
  #aside: Aside | undefined;
  #socket: LivenessSocket | undefined;
  #key: Buffer = Buffer.alloc(0);
  /** Folders of dead processes that hold nothing for this one to do. */
  readonly #passed = new Set<string>();

  constructor(wanted?: string) {
    this.path = madeAt(wanted);
    this.own = join(this.path, "processes", `${process.pid}-${randomBytes(8).toString("hex")}`);
    this.owner = join(this.own, "owner");
    this.make();
    this.#heartbeat = setInterval(() => {
      try {
        sys.touch(this.owner, new Date());
      } catch {
        // the next beat tries again
      }
    }, heartbeatMs).unref();
  }

  /**
   * Creates what is missing: at the start, and after a user or a cleaner of temporary files removed it. A former
   * directory for old content is not closed: commits in progress may hold it.
   */
  make(): void {
    for (const name of ["locks", "processes", "aside", "alive"]) makeDirectory(join(this.path, name));
    conceal(this.path);
    system(stateDirectory, () => {
      this.#key = keyOf(this.path);
      this.#aside = openAside(join(this.path, "aside"));
      if (sys.lstat(this.owner) === undefined) this.#makeOwn();
      this.#ownerInode = sys.lstat(this.owner)?.ino ?? -1;
    });
  }

  /** Under another name until the owner file is in it: a folder without one has no owner and is taken over. */
  #makeOwn(): void {
    const unborn = join(this.path, `unborn-${basename(this.own)}`);
    sys.mkdir(unborn, 0o700);
    this.#socket?.close();
    const socket = `${process.pid}-${randomBytes(8).toString("hex")}`; // another one each time: its name is used once
    using alive = Handle.open(join(this.path, "alive"), { follow: false, directory: true });
    this.#socket = LivenessSocket.listen(alive, socket);
    writeOwner(join(unborn, "owner"), this.#socket && socket);
    sys.rename(unborn, this.own);
  }

  /** The inode of this process's locks; it changes when the folder is created again. */
  get ownerInode(): number {
    return this.#ownerInode;
  }

  get aside(): Aside | undefined {
    return this.#aside;
  }

  /** What journals are authenticated with. */
  get key(): Buffer {
    return this.#key;
  }

  /** Called after it refused content (two mounts of one disk): it is not tried again. */
  forgoAside(): void {
    this.#aside?.handle.close();
    this.#aside = undefined;
  }

  lockPath(hash: string): string {
    return join(this.path, "locks", hash);
  }

  /** Whether the process that holds a lock is gone. */
  async isAbandoned(lock: string): Promise<boolean> {
    return isDeadSoon(lock, socketsOf(this.path));
  }

  /**
   * Removes a lock if no process will finish the work of its holder: its folder is gone, also from those that others
   * are recovering. Folders are renamed from process to process, so one look is not enough.
   */
  removeForsaken(lock: string): void {
    const inode = sys.lstat(lock)?.ino;
    const isOwner = (folder: string) => sys.lstat(join(folder, "owner"))?.ino === inode;
    const processes = join(this.path, "processes");
    const isKnown = () =>
      namesIn(processes)
        .map(name => join(processes, name))
        .flatMap(withPredecessors)
        .some(isOwner);
    if (inode !== undefined && !isKnown() && !isKnown()) unlinkIfSame(lock, inode);
  }

  /** Takes over the folders of dead processes; each is handed out once, to one process. */
  claim(): string[] {
    const claimed: string[] = [];
    const processes = join(this.path, "processes");
    for (const entry of system(stateDirectory, () => sys.names(processes))) {
      const folder = join(processes, entry.toString());
      if (folder === this.own || this.#passed.has(entry.toString())) continue;
      if (!isDead(join(folder, "owner"), socketsOf(this.path))) continue;
      if (claimed.length === 0) this.#flushOwn(processes);
      const taken = join(this.own, `dead-${entry.toString()}`);
      try {
        sys.rename(folder, taken);
        append(claimed, withPredecessors(taken));
      } catch (error) {
        if (errnoOf(error) !== "ENOENT") throw faultOf(error, stateDirectory);
      }
    }
    return claimed;
  }

  /** After a power cut, a folder that was moved into ours must not exist without ours. */
  #flushOwn(processes: string): void {
    try {
      flushFolder(processes);
    } catch {
      // A failing disk: recovery notices, and returns what it cannot settle.
    }
  }

  /** Leaves a dead process's folder to a later attempt. Of its locks it has those that `keeps` names. */
  giveBack(folder: string, keeps: ReadonlySet<string>): void {
    for (const name of keeps) linkUnlessTaken(join(folder, "owner"), this.lockPath(name));
    this.#unlock(folder, keeps);
    noteLeft(folder);
    sys.rename(folder, join(this.path, "processes", idOf(folder)));
  }

  /**
   * Gives back what a process, dead or this one, has taken over and not finished, with all locks: its recovery was cut
   * short. To be called before the folder of a process is removed: the journals in it may be the only copy of answered
   * changes.
   */
  release(folder: string): void {
    for (const name of takenBy(folder))
      sys.rename(join(folder, name), join(this.path, "processes", idOf(name)));
  }

  /** Leaves a folder to other processes, until `reconsider`. */
  pass(folder: string): void {
    this.#passed.add(idOf(folder));
  }

  /** After this process has been granted more than before. */
  reconsider(): void {
    this.#passed.clear();
  }

  /** Whether another process is recovering what dead ones left. */
  isRecoveredByOthers(): boolean {
    return this.others().some(folder => withPredecessors(folder).length > 1);
  }

  /** The folders of the other processes, alive or dead, and those that they are recovering. */
  standing(): string[] {
    return this.others().flatMap(withPredecessors);
  }

  /** The folders of the other processes, alive or dead. */
  others(): string[] {
    const processes = join(this.path, "processes");
    const folders = system(stateDirectory, () => namesIn(processes)).map(name => join(processes, name));
    return folders.filter(folder => folder !== this.own);
  }

  /** Notes the boot of the machine in which everything is recovered. Several processes may do so at the same time. */
  noteBoot(boot: string): void {
    const draft = join(this.own, "boot");
    const fd = sys.open(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o600);
    try {
      writeAll(fd, Buffer.from(boot));
    } finally {
      sys.close(fd);
    }
    sys.rename(draft, join(this.path, "boot"));
  }

  /** For how long recovery has left a dead process's folder to later attempts, in milliseconds. */
  ageOf(folder: string): number {
    const owner = sys.lstat(join(folder, "owner"));
    if (owner === undefined) return Number.POSITIVE_INFINITY;
    const left = sys.lstat(join(folder, leftMark));
    // A mark from before the process lived was made while the clock was wrong, as it is after a start without a battery.
    return left === undefined ? 0 : Date.now() - Math.max(left.mtimeMs, owner.mtimeMs);
  }

  /** Removes old content that no journal refers to any more. */
  sweepAside(): void {
    const aside = join(this.path, "aside");
    for (const entry of sys.names(aside)) {
      const path = join(aside, entry.toString());
      const stat = sys.lstat(path);
      if (stat !== undefined && Date.now() - stat.ctimeMs > keepMs) unlinkIfThere(path);
    }
  }

  /**
   * Removes the journals of a dead process, its locks, its liveness socket, and its folder. The journals go first: once
   * a lock is gone, others change the file, and a journal that is still there would be recovered over it.
   */
  bury(folder: string): void {
    this.release(folder);
    removeJournals(folder);
    this.#unlock(folder, new Set());
    const socket = socketAt(join(folder, "owner"));
    if (socket !== undefined) unlinkIfThere(join(socketsOf(this.path), socket));
    using parent = Handle.open(dirname(folder));
    purge(parent, folder.slice(dirname(folder).length + 1));
  }

  #unlock(folder: string, keeps: ReadonlySet<string>): void {
    const inode = sys.lstat(join(folder, "owner"))?.ino;
    if (inode === undefined) return;
    for (const name of sys.names(join(this.path, "locks")).map(String)) {
      if (!keeps.has(name)) unlinkIfSame(this.lockPath(name), inode);
    }
  }

  close(): void {
    clearInterval(this.#heartbeat);
    this.forgoAside();
    this.#socket?.close();
    this.bury(this.own);
  }
}

/** Its time says since when: that the machine was off does not count. */
const leftMark = "left";

function noteLeft(folder: string): void {
  const { O_WRONLY, O_CREAT } = constants;
  const mark = unlessFailing(() => sys.open(join(folder, leftMark), O_WRONLY | O_CREAT, 0o600));
  if (mark !== undefined) sys.close(mark);
}

function linkUnlessTaken(from: string, to: string): void {
  try {
    sys.link(from, to);
  } catch {
    // It is its lock already, or another process works there.
  }
}

/** Writes the identity of this process into a new file. */
export function writeOwner(path: string, socket: string | undefined): void {
  const { O_WRONLY, O_CREAT, O_EXCL } = constants;
  const fd = sys.open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600);
  try {
    writeAll(fd, Buffer.from(JSON.stringify({ ...thisProcess(), beacon: socket })));
  } finally {
    sys.close(fd);
  }
}

/** A journal must not take effect after a power cut: the files have changed since. */
function removeJournals(folder: string): void {
  const paths = namesIn(folder)
    .filter(name => name.startsWith("journal-"))
    .map(name => join(folder, name))
    .filter(path => sys.lstat(path)?.isFile());
  invalidate(paths);
  for (const path of paths) unlinkIfThere(path);
}

function flushFolder(folder: string): void {
  if (onWindows) return; // directories cannot be flushed there
  flushAndClose(sys.open(folder, constants.O_RDONLY));
}

function openAside(path: string): Aside {
  const handle = Handle.open(path, { follow: false, directory: true, own: true });
  return { handle, record: { at: handle.whereabouts(), ...marksOf(handle.stat()), aside: true } };
}

function idOf(folder: string): string {
  return basename(folder).replace(/^dead-/, "");
}

/** Folders that a process had taken over when it died itself come first: they are older. */
function withPredecessors(folder: string): string[] {
  const dead = takenBy(folder);
  return [...dead.flatMap(name => withPredecessors(join(folder, name))), folder];
}

/** The names of the folders that a process has taken over. */
function takenBy(folder: string): string[] {
  return namesIn(folder).filter(name => name.startsWith("dead-"));
}

/** Where the sockets of the processes that use a state directory are. */
export function socketsOf(state: string): string {
  return `${state}/alive`; // as it is written: the user lock's directory is the address of a handle
}

/** Whether the process of an owner file is gone. `sockets` is the directory of its liveness socket. */
export function isDead(
  owner: string,
  sockets: string,
  isListening: LivenessChecks["isListening"] = name => isListeningNow(sockets, name),
): boolean {
  const stat = sys.lstat(owner);
  if (stat === undefined) return false;
  const identity = identityAt(owner);
  if (identity === "busy") return false;
  if (identity === undefined || hasEnded(identity.socket ?? "")) return true;
  const isShared = () => !isOfOneMachine(sockets);
  return !isAlive(identity, stat.mtimeMs, { isShared, isListening });
}

/** The same for a caller that can wait. */
export async function isDeadSoon(owner: string, sockets: string): Promise<boolean> {
  const identity = identityAt(owner);
  if (identity === "busy") return false;
  if (identity?.socket === undefined || !needsSocket(identity)) return isDead(owner, sockets);
  const answer = await isListening(sockets, identity.socket);
  // Another process may have taken the lock meanwhile.
  if (answer || socketAt(owner) !== identity.socket) return false;
  return isDead(owner, sockets, () => answer);
}

/**
 * Parses the owner file of a process; undefined if it is malformed, "busy" if it cannot be read right now. A question
 * without an answer, as when this process has run out of descriptors, never means that a process is dead.
 */
export function identityAt(path: string): ProcessIdentity | "busy" | undefined {
  try {
    return identityIn(contentAt(path, mostOwnerBytes)?.toString("utf8") ?? "");
  } catch {
    return "busy";
  }
}

/** The socket that the owner file of a process names. */
export function socketAt(path: string): string | undefined {
  const identity = identityAt(path);
  return identity === "busy" ? undefined : identity?.socket;
}

/** Makes it. Among the temporary files others can put a link in its place, which is not followed. */
function madeAt(wanted: string | undefined): string {
  const path = statePath(wanted);
  if (temporaryState(wanted) !== undefined) return privateDirectory(path, { follow: false });
  try {
    return privateDirectory(path, { follow: true });
  } catch (error) {
    // The earlier check said that it could be made.
    if (!giveUpOwnPlace(wanted)) throw error;
    return privateDirectory(statePath(wanted), { follow: false });
  }
}

function privateDirectory(path: string, options: { readonly follow: boolean }): string {
  using handle = openPrivate(path, options);
  return display(handle.whereabouts());
}

/**
 * Creates and opens a directory for this user alone. The check is on the opened directory, not on the path: the user
 * must own it. Where others can write beside it, they could have put a link there, so it must not be followed.
 */
export function openPrivate(path: string, { follow }: { readonly follow: boolean }): Handle {
  makeDirectory(path);
  return system(stateDirectory, () => {
    const handle = Handle.open(path, { follow, own: true });
    try {
      const stat = handle.stat();
      const user = process.getuid?.() ?? stat.uid;
      if (!stat.isDirectory() || stat.uid !== user)
        throw new Fault("permission_denied", { path: stateDirectory });
      if ((stat.mode & 0o077) !== 0) sys.chmodAt(handle.address, 0o700);
      sys.access(handle.address, constants.W_OK | constants.X_OK);
      return handle;
    } catch (error) {
      handle.close();
      throw error;
    }
  });
}

export function makeDirectory(path: string): void {
  try {
    sys.mkdir(path, 0o700);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "EEXIST") return;
    if (errno !== "ENOENT" || dirname(path) === path) throw faultOf(error, stateDirectory);
    makeDirectory(dirname(path));
    // One retry only: for a path below a file, Windows reports a missing entry every time.
    try {
      sys.mkdir(path, 0o700);
    } catch (again) {
      if (errnoOf(again) === "EEXIST") return;
      if (errnoOf(again) === "ENOENT") throw new Fault("not_a_directory", { path: stateDirectory });
      throw faultOf(again, stateDirectory);
    }
  }
}
