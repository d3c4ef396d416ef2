// Processes that keep their state in different directories do not see each other's locks. So that they do not write
// over each other, each also passes a gate that all processes of a user on this machine share: a lock file in memory,
// or among the temporary files. Nothing in it has to outlive a process: what a dead one leaves is swept away.
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { clock } from "../../clock.ts";
import { errnoOf } from "../errno.ts";
import { thisProcess } from "./identity.ts";
import { unlinkIfThere } from "./if-there.ts";
import { isDead, privateDirectory } from "./state.ts";
import { sys, writeAll } from "./syscalls.ts";

interface Gate {
  readonly directory: string;
  /** Says who this process is; the locks are hard links of it. */
  readonly owner: string;
  readonly inode: number;
}

let gate: Gate | undefined;
const beatMs = 1000;
let beaten = -beatMs;

/** The file of a lock that is held now; undefined where somebody else holds it. Throws where there can be no gate. */
export function passGate(lock: string): string | undefined {
  gate ??= build();
  const { directory, owner, inode } = gate;
  const file = join(directory, lock);
  try {
    beat(owner);
    sys.link(owner, file);
    return file;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") gate = undefined; // somebody has cleared the place; the next one builds it anew
    if (errnoOf(error) !== "EEXIST") throw error;
  }
  const there = sys.lstat(file)?.ino;
  if (there === inode) return file; // left by a release that failed
  if (there !== undefined && isDead(file) && sys.lstat(file)?.ino === there) unlinkIfThere(file);
  return undefined;
}

/** Where numbers of processes mean nothing, a fresh time is what counts. */
function beat(owner: string): void {
  const now = clock(); // not the clock, which somebody may set
  if (now - beaten < beatMs) return;
  sys.touch(owner, new Date());
  beaten = now;
}

function build(): Gate {
  beaten = -beatMs;
  const shared = process.platform === "linux" && sys.lstat("/dev/shm")?.isDirectory() ? "/dev/shm" : tmpdir();
  const directory = privateDirectory(join(shared, `polyfs-${process.getuid?.() ?? "gate"}`));
  for (const name of sys.names(directory)) {
    const file = join(directory, name.toString());
    if (isDead(file)) sweep(file);
  }
  const owner = join(directory, `${process.pid}-${randomBytes(8).toString("hex")}`);
  // A file that says nothing yet would be taken for a dead process's and swept away: it gets its name when it is whole.
  const unborn = join(shared, `polyfs-${basename(owner)}`);
  const { O_WRONLY, O_CREAT, O_EXCL } = constants;
  const fd = sys.open(unborn, O_WRONLY | O_CREAT | O_EXCL, 0o600);
  try {
    writeAll(fd, Buffer.from(JSON.stringify(thisProcess())));
    sys.rename(unborn, owner);
  } catch (error) {
    unlinkIfThere(unborn);
    throw error;
  } finally {
    sys.close(fd);
  }
  process.once("exit", () => sweep(owner));
  return { directory, owner, inode: sys.lstat(owner)?.ino ?? -1 };
}

function sweep(file: string): void {
  try {
    unlinkIfThere(file);
  } catch {
    // the next process tries again
  }
}
