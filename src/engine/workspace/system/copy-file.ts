// Copies a file from one address to another. Where objects are held by the working directory, two addresses rarely fit
// into one call: both files are opened then, and the bytes go from descriptor to descriptor.
import {
  closeSync,
  constants,
  copyFile,
  copyFileSync as copyPaths,
  fchmodSync,
  fstatSync,
  read,
  readSync,
  write,
  writeSync,
} from "node:fs";
import { promisify } from "node:util";
import type { Address } from "./held.ts";
import { openLocated, safePaths } from "./working-directory.ts";

const chunkBytes = 1024 * 1024;
const { O_RDONLY, O_WRONLY, O_CREAT, O_TRUNC, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
const [readLater, writeLater, copyPathsLater] = [promisify(read), promisify(write), promisify(copyFile)];

/** `mode` is that of `copyFile`. Descriptors cannot share bytes: what was to be shared is copied. */
export function copyFileSync(from: Address, to: Address, mode: number): void {
  const paths = safePaths(from, to);
  if (paths !== undefined) {
    copyPaths(...paths, mode);
    return;
  }
  using files = opened(from, to, mode);
  const chunk = Buffer.allocUnsafe(chunkBytes);
  for (let at = 0, count = 0; ; at += count) {
    count = readSync(files.source, chunk, 0, chunk.length, at);
    if (count === 0) return;
    for (let done = 0; done < count; ) done += writeSync(files.target, chunk, done, count - done, at + done);
  }
}

/** The same in a thread. */
export async function copyFileLater(from: Address, to: Address, mode: number): Promise<void> {
  const paths = safePaths(from, to);
  if (paths !== undefined) return await copyPathsLater(...paths, mode);
  using files = opened(from, to, mode);
  const chunk = Buffer.allocUnsafe(chunkBytes);
  for (let at = 0, count = 0; ; at += count) {
    count = (await readLater(files.source, chunk, 0, chunk.length, at)).bytesRead;
    if (count === 0) return;
    for (let done = 0; done < count; )
      done += (await writeLater(files.target, chunk, done, count - done, at + done)).bytesWritten;
  }
}

interface OpenPair extends Disposable {
  readonly source: number;
  readonly target: number;
}

function opened(from: Address, to: Address, mode: number): OpenPair {
  const source = openLocated(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const permissions = fstatSync(source).mode & 0o7777;
    const kept = (mode & constants.COPYFILE_EXCL) === 0 ? O_TRUNC : O_EXCL;
    const target = openLocated(to, O_WRONLY | O_CREAT | kept | O_NOFOLLOW, permissions);
    fchmodSync(target, permissions); // whatever the umask
    return {
      source,
      target,
      [Symbol.dispose]() {
        closeSync(source);
        closeSync(target);
      },
    };
  } catch (error) {
    closeSync(source);
    throw error;
  }
}
