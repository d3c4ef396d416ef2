// Holding by a canonical path that is verified when it is opened: all that is left on Windows, and on POSIX systems
// without /proc where the working directory is not ours to change. A program that can rename directories in the tree can
// win the race between the check and the use; SECURITY.md says so.
import { type BigIntStats, lstatSync, realpathSync, type Stats } from "node:fs";
import { ownForm } from "../windows-path.ts";
import type { Address, Held, OpenOptions } from "./held.ts";
import { lstatNow } from "./identity.ts";

export class HeldByPath implements Held {
  readonly fd = -1;
  readonly address: string;

  private constructor(address: string) {
    this.address = address;
  }

  static open(address: Address, { follow, directory }: OpenOptions): HeldByPath {
    const path = follow ? ownForm(realpathSync.native(address)) : String(address);
    if (!lstatSync(path).isDirectory() && directory) throw notADirectory(path);
    return new HeldByPath(path);
  }

  whereabouts(): string {
    return Buffer.from(ownForm(realpathSync.native(this.address))).toString("latin1");
  }

  stat(): Stats {
    return lstatNow(this.address);
  }

  statBig(): BigIntStats {
    return lstatSync(this.address, { bigint: true });
  }

  here(): string {
    return this.address;
  }

  close(): void {}
}

function notADirectory(path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`ENOTDIR: not a directory, open '${path}'`), { code: "ENOTDIR" });
}
