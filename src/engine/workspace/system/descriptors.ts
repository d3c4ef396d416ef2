// Holding by an O_PATH descriptor, where /proc shows the descriptors of a process (Linux). A descriptor gives no access
// by itself (no read, no side effect on devices, no blocking on FIFOs), but `/proc/self/fd/N/name` names what is below
// *this* object, as the *at() calls do, and `readlink /proc/self/fd/N` shows where it really is.
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  type Stats,
} from "node:fs";
import type { Address, Held, OpenOptions } from "./held.ts";

/** Whether descriptors have addresses here. It depends on what is there, not on the name of the system. */
export const byDescriptor = process.platform === "linux" && hasDescriptorPaths();

function hasDescriptorPaths(): boolean {
  try {
    return lstatSync("/proc/self/fd").isDirectory();
  } catch {
    return false;
  }
}

const O_PATH = 0o10000000; // the same on every Linux architecture; not in fs.constants

/** Where an open descriptor has its address. */
export function descriptorPath(fd: number): string {
  return `/proc/self/fd/${fd}`;
}

export class HeldByDescriptor implements Held {
  #fd: number;

  private constructor(fd: number) {
    this.#fd = fd;
  }

  /** -1 when it is closed: the system gives the number to the next object that is opened. */
  get fd(): number {
    return this.#fd;
  }

  static open(address: Address, { follow, directory }: OpenOptions): HeldByDescriptor {
    const flags = (follow ? 0 : constants.O_NOFOLLOW) | (directory ? constants.O_DIRECTORY : 0);
    return new HeldByDescriptor(openSync(address, O_PATH | flags));
  }

  get address(): string {
    return descriptorPath(this.#fd);
  }

  whereabouts(): string {
    return readlinkSync(this.address, "latin1");
  }

  stat(): Stats {
    return fstatSync(this.#fd);
  }

  statBig(): BigIntStats {
    return fstatSync(this.#fd, { bigint: true });
  }

  currentPath(): string {
    return this.address;
  }

  close(): void {
    if (this.#fd < 0) return;
    const fd = this.#fd;
    this.#fd = -1;
    closeSync(fd);
  }
}
