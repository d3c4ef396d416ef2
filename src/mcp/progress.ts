// Progress of a running call, for a client that sent a token: at most ten notifications a second, always increasing,
// and none after the end, as the protocol requires. A call that does not know how far it is shows once a second that it
// goes on.
import { clock } from "../engine/clock.ts";
import type { Caller } from "./method.ts";

const intervalMs = 100;
const beatMs = 1000;
/** A step so small that it stays below the first that a tool reports itself. */
const beatStep = 0.0001;

export interface CallProgress {
  readonly report: (done: number, total?: number, message?: string) => void;
  end(): void;
}

const silent: CallProgress = { report: () => {}, end: () => {} };

export function progressTo(token: unknown, notify: Caller["notify"]): CallProgress {
  if (typeof token !== "string" && typeof token !== "number") return silent;
  let last = Number.NEGATIVE_INFINITY;
  let lastAt = Number.NEGATIVE_INFINITY;
  let ended = false;
  let beats = 0;
  const beat = setInterval(() => {
    last = ++beats * beatStep;
    notify("notifications/progress", {
      progressToken: token,
      progress: last,
      message: `running for ${beats} s`,
    });
  }, beatMs).unref();
  return {
    report(done, total, message) {
      clearInterval(beat);
      const now = clock();
      const complete = total !== undefined && done >= total;
      if (ended || done <= last || (now - lastAt < intervalMs && !complete)) return;
      last = done;
      lastAt = now;
      notify("notifications/progress", { progressToken: token, progress: done, total, message });
    },
    end() {
      clearInterval(beat);
      ended = true;
    },
  };
}
