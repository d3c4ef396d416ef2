// Preloaded into programs that tests start: ends them with the test run, also where that is killed. Nothing is written
// to their standard input, so its end means that the other side is gone.
import { isMainThread } from "node:worker_threads";

// Threads of the program are preloaded, too; their standard input is at its end.
if (isMainThread) {
  process.stdin.on("end", () => process.exit(1));
  process.stdin.on("error", () => process.exit(1));
  process.stdin.resume();
  process.stdin.unref();
}
