// Flushes a whole file system in one operation (syncfs). Flushing thousands of files one by one costs a journal
// commit of the file system for each. Node has no such call, so a program makes it; the folder that may start programs
// provides it (shell/flush-file-system.ts).

export interface WholeFlush {
  /** Flushes the file system of a directory. False if nothing was flushed; the caller flushes file by file then. */
  later(directory: string): Promise<boolean>;
  /** The same, blocking. */
  now(directory: string): boolean;
}

/** From this many files on, flushing the whole file system is cheaper than flushing each. */
export const manyFiles = 200;

const none: WholeFlush = { later: async () => false, now: () => false };
let provided = none;

export function provideWholeFlush(flush: WholeFlush): void {
  provided = flush;
}

export const wholeFlush: WholeFlush = {
  later: directory => provided.later(directory),
  now: directory => provided.now(directory),
};
