// What it means to hold a file-system object, whatever the system offers for it. There are three implementations:
// descriptors.ts (Linux with /proc), working-directory.ts (other POSIX systems, in a process of our own), and paths.ts
// (Windows, and POSIX systems where polyfs is a library in another program's process).
import type { BigIntStats, Stats } from "node:fs";

/** A path for system calls. A Buffer where its written form (name.ts) differs from its bytes. */
export type Address = string | Buffer;

export interface OpenOptions {
  /** Whether a symbolic link is followed; otherwise the link itself is what is opened. */
  readonly follow: boolean;
  /** Anything but a directory fails with ENOTDIR. */
  readonly directory: boolean;
  /** The directory is polyfs's own: no caller can put anything else under its path. */
  readonly own: boolean;
}

export interface Held {
  /** A descriptor of the object, where there is one; else -1. */
  readonly fd: number;
  /** Names this object in the calls of calls.ts, with `/name` appended what is below it. */
  readonly address: string;
  /** Where the object is now, as the system reports it: bytes as Latin-1. */
  whereabouts(): string;
  stat(): Stats;
  statBig(): BigIntStats;
  /** Names this directory for what is not a call of calls.ts (a child process, a socket), in this very moment. */
  currentPath(): string;
  close(): void;
}
