// Loads what the first calls need and a start does not, once the client has its first answers and is quiet. Step by
// step, so that a call in between waits for at most one step.
import { ripgrepPath } from "../engine/search/ripgrep.ts";
import { version } from "../engine/text/version.ts";

/** Most are Node's own modules, some milliseconds each; the program loads them at their first use (tools/bundle.mjs). */
const steps: readonly (() => unknown)[] = [
  // Every content that is read or written has a version; the first hash is the slow one.
  () => version(Buffer.alloc(0)),
  () => process.getBuiltinModule("node:child_process"),
  ripgrepPath,
  // Stops every call that may take long; Node compiles it for the first one.
  () => new AbortController().signal,
];

const quietMs = 100;

/** Begins, with `first`, when something has been answered and nothing more has come for a while. */
export function warmUpWhenQuiet(
  input: { readonly bytesRead: number },
  output: { readonly bytesWritten?: number },
  first: () => unknown,
): void {
  const all = [first, ...steps];
  let seen = 0;
  let done = 0;
  const timer = setInterval(() => {
    const isAnswered = output.bytesWritten !== 0; // a file does not count them
    const quiet = isAnswered && input.bytesRead > 0 && input.bytesRead === seen;
    seen = input.bytesRead;
    if (quiet) all[done++]?.();
    if (done === all.length) clearInterval(timer);
  }, quietMs).unref();
}
