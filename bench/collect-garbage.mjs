// Preloaded into a measured process: collects garbage on SIGUSR2, so that its memory is what it holds.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isMainThread } from "node:worker_threads";

if (isMainThread) {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  process.on("SIGUSR2", () => {
    for (let i = 0; i < 3; i++) collect();
  });
}
