// Holding by a canonical path that is verified when it is opened: all that is left on Windows, and on POSIX systems
// without /proc where the working directory is not ours to change. A program that can rename directories in the tree can
// win the race between the check and the use; SECURITY.md says so.
import { isUtf8 } from "node:buffer";
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
    const path = follow
      ? ownForm(inUtf8(realpathSync.native(address, { encoding: "buffer" })))
      : inUtf8(address);
    if (!lstatSync(path).isDirectory() && directory) throw notADirectory(path);
    return new HeldByPath(path);
  }

  whereabouts(): string {
    const path = inUtf8(realpathSync.native(this.address, { encoding: "buffer" }));
    return Buffer.from(ownForm(path)).toString("latin1");
  }

  stat(): Stats {
    return lstatNow(this.address);
  }

  statBig(): BigIntStats {
    return lstatSync(this.address, { bigint: true });
  }

  currentPath(): string {
    return this.address;
  }

  close(): void {}
}

/** A path as a string, if it can be one: otherwise it would name another file. */
function inUtf8(address: Address): string {
  if (typeof address === "string" || isUtf8(address)) return address.toString();
  const message = `EILSEQ: the name is not UTF-8, open '${address.toString()}'`;
  throw Object.assign(new Error(message), { code: "EILSEQ", syscall: "open" });
}

function notADirectory(path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`ENOTDIR: not a directory, open '${path}'`), { code: "ENOTDIR" });
}
