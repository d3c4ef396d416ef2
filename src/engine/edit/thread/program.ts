// The text thread: runs one job after the other.
import { parentPort } from "node:worker_threads";
import { type Answer, jobs, type Request } from "./jobs.ts";

parentPort?.on("message", ({ id, job, given }: Request) => {
  const run = jobs[job] as (...given: readonly unknown[]) => unknown;
  let answer: Answer;
  try {
    answer = { id, made: run(...given) };
  } catch (error) {
    answer = { id, error: error instanceof Error ? error.message : String(error) };
  }
  parentPort?.postMessage(answer);
});
