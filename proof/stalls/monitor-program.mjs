// Loaded into the server: writes down the longest stretches in which its main thread worked without a turn of the event
// loop. It counts processor time, so that it tells the same on a busy machine. Linux only.
import { openSync, readSync, writeSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

const { POLYFS_STRETCHES: path } = process.env;
const tickMs = 4;
const worthTellingMs = 10;

if (isMainThread && path !== undefined) {
  const clock = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
  const out = openSync(path, "a");
  const buffer = Buffer.alloc(64);
  const busyMs = () => {
    const length = readSync(clock, buffer, 0, buffer.length, 0);
    return Number(buffer.toString("latin1", 0, length).split(" ")[0]) / 1e6;
  };
  let last = busyMs();
  setInterval(() => {
    const now = busyMs();
    if (now - last > worthTellingMs) writeSync(out, `${Date.now()} ${Math.round(now - last)}\n`);
    last = busyMs();
  }, tickMs).unref();
}
