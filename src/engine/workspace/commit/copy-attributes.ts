// Extended attributes and ACLs of replaced files: how they are copied, and how a file is identified for that.
import { sys } from "../disk/syscalls.ts";

/** Copies extended attributes and ACLs from one open file to another. Node has no call for it. */
export interface CopyAttributes {
  (from: number, to: number): void | Promise<void>;
  /** Looks up many files at once. */
  readonly ask?: (files: readonly number[]) => Promise<void>;
  /** Whether a file is known to have none. */
  readonly isWithout?: (identity: string) => boolean;
  /** Notes a file without attributes: the one that it replaced had none. */
  readonly learn?: (identity: string) => void;
}

/** Files per lookup. */
export const mostAsked = 200;

/**
 * Identifies an open file by inode and change time: attributes that are set later make it another one. Undefined for
 * what is not a regular file: another program put it there, and opening a pipe again can block for ever.
 */
export function fileIdentity(fd: number): string | undefined {
  const stat = sys.stat(fd);
  return stat.isFile() ? identityOf(stat) : undefined;
}

export function identityOf(stat: {
  readonly dev: number;
  readonly ino: number;
  readonly ctimeMs: number;
}): string {
  return `${stat.dev}:${stat.ino}:${stat.ctimeMs}`;
}
