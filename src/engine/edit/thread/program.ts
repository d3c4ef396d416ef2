// The text thread: runs one job after the other.
import { parentPort } from "node:worker_threads";
import { jobs, type TextJobAnswer, type TextJobRequest } from "./jobs.ts";

parentPort?.on("message", ({ id, job, given }: TextJobRequest) => {
  const run = jobs[job] as (...given: readonly unknown[]) => unknown;
  let answer: TextJobAnswer;
  try {
    answer = { id, made: run(...given) };
  } catch (error) {
    answer = { id, error: error instanceof Error ? error.message : String(error) };
  }
  parentPort?.postMessage(answer);
});
