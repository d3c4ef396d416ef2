// A held file-system object: what was opened, not a name that can be swapped underneath.
//
// On Linux a handle is an O_PATH descriptor. It gives no access by itself (no read, no side effect on devices,
// no blocking on FIFOs), but `/proc/self/fd/N/name` names what lies below *this* object, as the *at() calls do,
// and `readlink /proc/self/fd/N` tells where it really is. Elsewhere there is no such thing in Node: a handle
// is then a canonical path that is verified when it is opened, which an attacker with the right timing can beat.
// SECURITY.md says so. Which of the two it is depends on what the system offers, not on its name: on Linux without
// /proc a handle is a path too.
import { Buffer } from "node:buffer";
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  type Stats,
} from "node:fs";
import { errnoOf } from "./errno.ts";
import { bytesWritten, isEscaped, written } from "./name.ts";
import { lstatNow } from "./system/identity.ts";
import { ownForm } from "./windows-path.ts";

/** True where paths can be resolved and opened without a race. */
export const raceFree = process.platform === "linux" && hasDescriptorPaths();

function hasDescriptorPaths(): boolean {
  try {
    return lstatSync("/proc/self/fd").isDirectory();
  } catch {
    return false;
  }
}

const O_PATH = 0o10000000; // the same on every Linux architecture; not in fs.constants

/** A path for system calls. A Buffer where its written form (name.ts) differs from its bytes. */
export type Address = string | Buffer;

export class Handle implements Disposable {
  readonly fd: number;
  readonly #path: string;

  private constructor(fd: number, path: string) {
    this.fd = fd;
    this.#path = path;
  }

  /**
   * Opens whatever `address` names. With `follow` false, a link itself is what is opened. With `directory`, anything
   * else fails, where that comes for free (Linux).
   */
  static open(address: Address, { follow = true, directory = false } = {}): Handle {
    if (raceFree) {
      const flags = (follow ? 0 : constants.O_NOFOLLOW) | (directory ? constants.O_DIRECTORY : 0);
      return new Handle(openSync(address, O_PATH | flags), "");
    }
    const path = follow ? ownForm(realpathSync.native(address)) : String(address);
    const stat = lstatSync(path);
    if (directory && !stat.isDirectory()) throw notADirectory(path);
    return new Handle(-1, path);
  }

  /** This object's own address. */
  get address(): string {
    return raceFree ? `/proc/self/fd/${this.fd}` : this.#path;
  }

  /**
   * The address of what lies below this directory: a name, or a relative path where the caller checks where it lands.
   * A string is a written name (name.ts); a Buffer holds the bytes themselves.
   */
  below(name: Address): Address {
    if (typeof name === "string" && !isEscaped(name)) return `${this.address}/${name}`;
    const bytes = typeof name === "string" ? bytesWritten(name) : name;
    return Buffer.concat([Buffer.from(`${this.address}/`), bytes]);
  }

  /**
   * Where the object is now, as the system tells it: bytes as Latin-1, so that comparing is exact for names that
   * are not UTF-8 (see `display`).
   */
  whereabouts(): string {
    if (raceFree) return readlinkSync(this.address, "latin1");
    return Buffer.from(ownForm(realpathSync.native(this.#path))).toString("latin1");
  }

  stat(): Stats {
    return raceFree ? fstatSync(this.fd) : lstatNow(this.#path);
  }

  statBig(): BigIntStats {
    return raceFree ? fstatSync(this.fd, { bigint: true }) : lstatSync(this.#path, { bigint: true });
  }

  close(): void {
    if (this.fd < 0) return;
    try {
      closeSync(this.fd);
    } catch (error) {
      if (errnoOf(error) !== "EBADF") throw error;
    }
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

function notADirectory(path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`ENOTDIR: not a directory, open '${path}'`), { code: "ENOTDIR" });
}

/** The written form (name.ts) of a path of `whereabouts`. */
export function display(whereabouts: string): string {
  return isSimple(whereabouts) ? whereabouts : written(Buffer.from(whereabouts, "latin1"));
}

/** The inverse of `display`. */
export function bytesOf(path: string): string {
  return isSimple(path) ? path : bytesWritten(path).toString("latin1");
}

/** Whether the written form, the bytes as Latin-1 and the text are the same. */
function isSimple(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false;
  return !isEscaped(text);
}
