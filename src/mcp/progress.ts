// Progress of a running call, for a client that sent a token: at most ten notifications a second, always increasing,
// and none after the end, as the protocol requires.
import { clock } from "../engine/clock.ts";
import type { Caller } from "./method.ts";

const intervalMs = 100;

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
  return {
    report(done, total, message) {
      const now = clock();
      const complete = total !== undefined && done >= total;
      if (ended || done <= last || (now - lastAt < intervalMs && !complete)) return;
      last = done;
      lastAt = now;
      notify("notifications/progress", { progressToken: token, progress: done, total, message });
    },
    end() {
      ended = true;
    },
  };
}
