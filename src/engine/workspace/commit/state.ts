// Where commits keep what must outlive this process: a directory of the user, never in the workspace. Each
// process has a folder of its own in it, with its journals and a file that says who it is. Lock files are hard
// links of that file: made in one step, they are never empty.
//
//   locks/<hash>          who holds a name
//   aside/…               old content of files, until it is recorded
//   processes/<id>/owner  pid, start, world; its time is the heartbeat
//   processes/<id>/…      journals, and the folders of dead processes that this one recovers
//
// A dead process's folder is taken over by renaming it into one's own: only one can succeed.
import { randomBytes } from "node:crypto";
import { constants, readFileSync } from "node:fs";
import { homedir, tmpdir, userInfo } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { Fault } from "../../fault.ts";
import { errnoOf, faultOf, system } from "../errno.ts";
import { display, Handle } from "../handle.ts";
import { heartbeatMs, isAlive, type ProcessIdentity, thisProcess } from "./identity.ts";
import { namesIn, unlinkIfThere } from "./if-there.ts";
import { purge } from "./purge.ts";
import { sys, writeAll } from "./syscalls.ts";

const keepMs = 7 * 24 * 3_600_000;

/** A directory for old content of files on the same disk: out of the way of those who list the workspace. */
export interface Aside {
  readonly handle: Handle;
  readonly record: { readonly at: string; readonly device: number; readonly inode: number };
}

export class StateDirectory {
  readonly path: string;
  readonly own: string;
  readonly owner: string;
  readonly #heartbeat: NodeJS.Timeout;
  #ownerInode = -1;
  #aside: Aside | undefined;

  constructor(wanted?: string) {
    this.path = usable(wanted);
    const id = `${process.pid}-${randomBytes(8).toString("hex")}`;
    this.own = join(this.path, "processes", id);
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
   * Makes what is not there: at the start, and after somebody has cleared it away (a user who wants no history, a
   * sweeper of temporary files). A former place for old content is not closed: commits under way may hold it.
   */
  make(): void {
    for (const name of ["locks", "processes", "aside"]) makeDirectory(join(this.path, name));
    system(this.path, () => {
      this.#aside = openAside(join(this.path, "aside"));
      if (sys.lstat(this.owner) === undefined) makeOwn(this.own);
      this.#ownerInode = sys.lstat(this.owner)?.ino ?? -1;
    });
  }

  /** Which file the locks of this process are: another one after it has been made anew, with its folder. */
  get ownerInode(): number {
    return this.#ownerInode;
  }

  get aside(): Aside | undefined {
    return this.#aside;
  }

  /** After it has refused to take something (two mounts of one disk): it is not tried again. */
  forgoAside(): void {
    this.#aside?.handle.close();
    this.#aside = undefined;
  }

  lockPath(hash: string): string {
    return join(this.path, "locks", hash);
  }

  /** Whether the process that holds a lock is gone. */
  isAbandoned(lock: string): boolean {
    const stat = sys.lstat(lock);
    if (stat === undefined) return false;
    const identity = identityAt(lock);
    return identity !== undefined && !isAlive(identity, stat.mtimeMs);
  }

  /**
   * Whether nobody will come to bring to an end what the holder of a lock left: it has no folder any more, not even
   * among those that others are recovering. Folders move from hand to hand, so one look is not enough.
   */
  isForsaken(lock: string): boolean {
    const inode = sys.lstat(lock)?.ino;
    const isOwner = (folder: string) => sys.lstat(join(folder, "owner"))?.ino === inode;
    const processes = join(this.path, "processes");
    const isKnown = () =>
      namesIn(processes)
        .map(name => join(processes, name))
        .flatMap(withPredecessors)
        .some(isOwner);
    return inode !== undefined && !isKnown() && !isKnown();
  }

  /** Takes over the folders of dead processes; each is handed out once, to one process. */
  claim(): string[] {
    const claimed: string[] = [];
    const processes = join(this.path, "processes");
    for (const entry of sys.names(processes)) {
      const folder = join(processes, entry.toString());
      const owner = join(folder, "owner");
      if (folder === this.own || !isDead(owner)) continue;
      const taken = join(this.own, `dead-${entry.toString()}`);
      try {
        sys.rename(folder, taken);
        claimed.push(...withPredecessors(taken));
      } catch (error) {
        if (errnoOf(error) !== "ENOENT") throw faultOf(error, this.path);
      }
    }
    return claimed;
  }

  /** Leaves a dead process's folder, and with it its locks, to a later try. */
  giveBack(folder: string): void {
    sys.rename(folder, join(this.path, "processes", basename(folder).replace(/^dead-/, "")));
  }

  /** Whether a folder has been waiting so long that nobody will miss what it holds. */
  isOld(folder: string): boolean {
    const stat = sys.lstat(join(folder, "owner"));
    return stat === undefined || Date.now() - stat.mtimeMs > keepMs;
  }

  /** Removes old content that nobody will come for: journals that spoke of it were buried unsettled. */
  sweepAside(): void {
    const aside = join(this.path, "aside");
    for (const entry of sys.names(aside)) {
      const path = join(aside, entry.toString());
      const stat = sys.lstat(path);
      if (stat !== undefined && Date.now() - stat.ctimeMs > keepMs) unlinkIfThere(path);
    }
  }

  /** Removes the locks of a dead process, and its folder. */
  bury(folder: string): void {
    const inode = sys.lstat(join(folder, "owner"))?.ino;
    const locks = join(this.path, "locks");
    for (const entry of sys.names(locks)) {
      const lock = join(locks, entry.toString());
      if (inode !== undefined && sys.lstat(lock)?.ino === inode) unlinkIfThere(lock);
    }
    using parent = Handle.open(dirname(folder));
    purge(parent, folder.slice(dirname(folder).length + 1));
  }

  close(): void {
    clearInterval(this.#heartbeat);
    this.forgoAside();
    this.bury(this.own);
  }
}

/** Under another name until the owner is in it: a folder without owner belongs to nobody and is taken over. */
function makeOwn(folder: string): void {
  const unborn = join(dirname(dirname(folder)), `unborn-${basename(folder)}`);
  sys.mkdir(unborn, 0o700);
  const { O_WRONLY, O_CREAT, O_EXCL } = constants;
  const fd = sys.open(join(unborn, "owner"), O_WRONLY | O_CREAT | O_EXCL, 0o600);
  writeAll(fd, Buffer.from(JSON.stringify(thisProcess())));
  sys.close(fd);
  sys.rename(unborn, folder);
}

function openAside(path: string): Aside {
  const handle = Handle.open(path, { follow: false, directory: true });
  const { dev, ino } = handle.stat();
  return { handle, record: { at: handle.whereabouts(), device: dev, inode: ino } };
}

/** Folders that a process had taken over when it died itself come first: they are older. */
function withPredecessors(folder: string): string[] {
  const dead = namesIn(folder).filter(name => name.startsWith("dead-"));
  return [...dead.flatMap(name => withPredecessors(join(folder, name))), folder];
}

export function isDead(owner: string): boolean {
  const stat = sys.lstat(owner);
  const identity = identityAt(owner);
  return stat !== undefined && (identity === undefined || !isAlive(identity, stat.mtimeMs));
}

function identityAt(path: string): ProcessIdentity | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as ProcessIdentity;
  } catch {
    return undefined;
  }
}

/** The place for state: as told, or in the user's state directory. */
export function statePath(wanted?: string): string {
  const told = wanted ?? process.env.POLYFS_STATE_DIR;
  if (told !== undefined && told !== "") return resolve(told);
  return join(process.env.XDG_STATE_HOME || join(homedir(), ".local", "state"), "polyfs");
}

/** Makes it; where the user's own place cannot be written, it is among the temporary files. */
function usable(wanted: string | undefined): string {
  const path = statePath(wanted);
  try {
    return privateDirectory(path);
  } catch (error) {
    if (wanted ?? process.env.POLYFS_STATE_DIR) throw error;
    return privateDirectory(join(tmpdir(), `polyfs-${userInfo().uid}`));
  }
}

export function privateDirectory(path: string): string {
  makeDirectory(path);
  return system(path, () => {
    using handle = Handle.open(path);
    const stat = handle.stat();
    const user = process.getuid?.() ?? stat.uid;
    if (!stat.isDirectory() || stat.uid !== user) throw new Fault("permission_denied", { path });
    if ((stat.mode & 0o077) !== 0) sys.chmodAt(handle.address, 0o700);
    sys.access(handle.address, constants.W_OK | constants.X_OK);
    return display(handle.whereabouts());
  });
}

function makeDirectory(path: string): void {
  try {
    sys.mkdir(path, 0o700);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "EEXIST") return;
    if (errno !== "ENOENT" || dirname(path) === path) throw faultOf(error, path);
    makeDirectory(dirname(path));
    makeDirectory(path);
  }
}
