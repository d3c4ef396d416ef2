// What is wrong with a file that the operator wrote: tokens, certificates, policies. It is not a bug of ours, so the log
// has a sentence and no stack trace.
import { plainWording, say } from "../contract/wording.ts";
import { Fault } from "../engine/fault.ts";

export function fileProblem(error: unknown): string {
  if (error instanceof Fault) return say(plainWording, error);
  return error instanceof Error ? error.message : String(error);
}
