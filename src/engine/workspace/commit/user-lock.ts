// Processes with different state directories do not see each other's locks. So each also takes a lock that all
// processes of a user on this machine share: a file in the user's directory (user-directory.ts). It need not outlive the
// process: locks of dead processes are removed.
import { randomBytes } from "node:crypto";
import { atExit } from "../../at-exit.ts";
import { clock } from "../../clock.ts";
import { conceal } from "../concealed.ts";
import { unlinkIfSame, unlinkIfThere } from "../disk/if-there.ts";
import { sys } from "../disk/syscalls.ts";
import { errnoOf } from "../errno.ts";
import { Handle } from "../handle.ts";
import { byDescriptor } from "../system/descriptors.ts";
import { isListening, LivenessSocket } from "./liveness-socket.ts";
import type { Holder } from "./patience.ts";
import { isOpenElsewhere } from "./retry-busy-file.ts";
import { isDeadSoon, makeDirectory, socketAt, socketsOf, writeOwner } from "./state.ts";
import { openUserDirectory } from "./user-directory.ts";

interface UserLock {
  /** The address of the held directory. */
  readonly directory: string;
  /** Identifies this process; the locks are hard links of it. */
  readonly owner: string;
  readonly inode: number;
}

let userLock: UserLock | undefined;
const beatMs = 1000;
let beaten = -beatMs;

/** The file gets its name once it is complete: an empty one would be taken for that of a dead process. */
const unborn = "new-";
const unbornMs = 60_000;

/** The file of a lock that is held now, or what another process holds it by. Throws if no user lock can be made. */
export async function takeUserLock(
  lock: string,
): Promise<{ readonly file: string } | { readonly file?: undefined; readonly holder: Holder }> {
  userLock ??= build();
  const { directory, owner, inode } = userLock;
  const file = `${directory}/${lock}`;
  try {
    beat(owner);
    sys.link(owner, file);
    return { file };
  } catch (error) {
    if (errnoOf(error) === "ENOENT") userLock = undefined; // the directory was removed; the next attempt creates it again
    if (isOpenElsewhere(error)) return { holder: undefined };
    if (errnoOf(error) !== "EEXIST") throw error;
  }
  const holder = sys.lstat(file);
  if (holder?.ino === inode) return { file }; // left by a release that failed
  if (holder !== undefined && (await isDeadSoon(file, socketsOf(directory)))) unlinkIfSame(file, holder.ino);
  return { holder };
}

/** The heartbeat decides if nothing else shows whether a process is alive. */
function beat(owner: string): void {
  const now = clock(); // not the wall clock, which can be set
  if (now - beaten < beatMs) return;
  sys.touch(owner, new Date());
  beaten = now;
}

/** Leaves nothing behind if it fails: a place that is full stays so, and every commit tries again. */
function build(): UserLock {
  beaten = -beatMs;
  const held = openUserDirectory();
  const directory = byDescriptor ? `${held.address}/.` : held.address; // the descriptor's own address is a link
  const id = `${process.pid}-${randomBytes(8).toString("hex")}`;
  const [owner, draft] = [`${directory}/${id}`, `${directory}/${unborn}${id}`];
  const beacon = `${socketsOf(directory)}/${id}`;
  let socket: LivenessSocket | undefined;
  let inode: number;
  try {
    conceal(directory);
    makeDirectory(socketsOf(directory));
    using alive = Handle.open(socketsOf(directory), { follow: false, directory: true });
    socket = LivenessSocket.listen(alive, id);
    writeOwner(draft, socket && id);
    sys.rename(draft, owner);
    inode = sys.lstat(owner)?.ino ?? -1;
  } catch (error) {
    for (const file of [draft, owner, beacon]) sweep(file);
    socket?.close();
    held.close();
    throw error;
  }
  atExit(() => {
    sweep(owner);
    sweep(beacon);
  });
  void sweepDead(directory);
  return { directory, owner, inode };
}

/** Removes what dead processes left. No commit waits for it: a lock of theirs that is in the way is removed then. */
async function sweepDead(directory: string): Promise<void> {
  try {
    for (const name of sys.names(directory).map(String)) {
      const file = `${directory}/${name}`;
      const stat = sys.lstat(file);
      if (!stat?.isFile()) continue;
      if (name.startsWith(unborn)) {
        if (Date.now() - stat.mtimeMs > unbornMs) sweep(file);
        continue;
      }
      const socket = socketAt(file);
      if (!(await isDeadSoon(file, socketsOf(directory))) || sys.lstat(file)?.ino !== stat.ino) continue;
      if (socket !== undefined) sweep(`${socketsOf(directory)}/${socket}`);
      sweep(file);
    }
    await sweepSockets(directory);
  } catch {
    // the next process tries again
  }
}

/** A process may have died before its file had its name, or with a file that was removed since. */
async function sweepSockets(directory: string): Promise<void> {
  const sockets = socketsOf(directory);
  for (const name of sys.names(sockets).map(String)) {
    const stat = sys.lstat(`${sockets}/${name}`);
    if (stat === undefined || Date.now() - stat.mtimeMs < unbornMs || sys.lstat(`${directory}/${name}`))
      continue;
    if ((await isListening(sockets, name)) === false) sweep(`${sockets}/${name}`);
  }
}

function sweep(file: string): void {
  try {
    unlinkIfThere(file);
  } catch {
    // the next process tries again
  }
}
