// The text thread: runs one job after the other.
import { parentPort } from "node:worker_threads";
import { jobs, type TextJobAnswer, type TextJobPiece, type TextJobRequest } from "./jobs.ts";

type Pieces = (string | readonly unknown[])[];

/** The arguments of jobs to come, as far as they have arrived. */
const arrived = new Map<number, Map<number, Pieces>>();

parentPort?.on("message", (message: TextJobRequest | TextJobPiece) => {
  if ("piece" in message) keep(message);
  else run(message);
});

function keep({ id, argument, piece }: TextJobPiece): void {
  const of = arrived.get(id) ?? new Map<number, Pieces>();
  arrived.set(id, of);
  const pieces = of.get(argument) ?? [];
  of.set(argument, pieces);
  pieces.push(piece);
}

function run({ id, job, given }: TextJobRequest): void {
  const large = arrived.get(id);
  arrived.delete(id);
  const work = jobs[job] as (...given: readonly unknown[]) => unknown;
  let answer: TextJobAnswer;
  try {
    answer = { id, made: work(...given.map((one, i) => joined(large?.get(i)) ?? one)) };
  } catch (error) {
    answer = { id, error: error instanceof Error ? error.message : String(error) };
  }
  parentPort?.postMessage(answer);
}

function joined(pieces: Pieces | undefined): string | unknown[] | undefined {
  if (pieces === undefined) return undefined;
  return typeof pieces[0] === "string" ? pieces.join("") : pieces.flat();
}
