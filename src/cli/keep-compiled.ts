// When a server keeps the program's compiled form. A form holds the functions that have run, so it is worth most when
// tools have been used: a first call takes at most half as long if its functions are in it. Some clients call at once,
// others an hour after they started the server, so the number of requests is checked repeatedly.
import type { CompiledScript } from "../host/compiled.ts";

interface Moments {
  /** By then a client has its first answers, and has compiled with them what every start needs. */
  readonly firstMs: number;
  /** How often to check for more requests. */
  readonly everyMs: number;
  /** How many checks that find new requests cache the code again: each takes some milliseconds. */
  readonly looks: number;
}

const usual: Moments = { firstMs: 1000, everyMs: 20_000, looks: 10 };

/** Code that was cached this often contains everything that is used. */
const enough = 5;

/** `read` returns the number of bytes from the client so far. */
export function keepCompiled({ keep, times }: CompiledScript, read: () => number, moments = usual): void {
  if (keep === undefined || times >= enough) return;
  if (times === 0) setTimeout(keep, moments.firstMs).unref();
  let seen = 0;
  let left = moments.looks;
  const timer = setInterval(() => {
    const now = read();
    if (now === seen) return;
    seen = now;
    keep();
    if (--left === 0) clearInterval(timer);
  }, moments.everyMs).unref();
}
