// Heartbeats: the mtime of a file shows that the process behind it is alive, where nothing else does. Whoever makes such
// a file keeps it fresh; one that is not fresh was left by a dead process.
import { sys } from "./syscalls.ts";

export const heartbeatMs = 10_000;
const silenceMs = 3 * heartbeatMs;

export function isFresh(heartbeat: number): boolean {
  return Date.now() - heartbeat < silenceMs;
}

/** Keeps a file of this process fresh until it is disposed of. One that another process has put there is left alone. */
export function keepFresh(path: string): Disposable {
  const inode = sys.lstat(path)?.ino;
  const timer = setInterval(() => {
    try {
      if (sys.lstat(path)?.ino === inode) sys.touch(path, new Date());
    } catch {
      // the next beat tries again
    }
  }, heartbeatMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
