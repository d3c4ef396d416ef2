// The commands that run now. None outlives the server: if it exits without having stopped them, it kills them last;
// if it is killed, orphans.ts does.
import { once } from "../once.ts";
import type { Family } from "./family.ts";
import { endWithServer } from "./orphans.ts";

const living = new Set<Family>();
const killAtExit = once(() =>
  process.on("exit", () => {
    for (const one of living) one.signal("SIGKILL");
  }),
);

export interface Tracked extends Disposable {
  /** Adds the first process of the family's own namespace, which leads a group of its own. */
  admit(pid: number): void;
}

/** Remembers a family until it is disposed of. */
export function keepTrack(family: Family): Tracked {
  killAtExit();
  living.add(family);
  const guarded = [endWithServer(family.leader, family.mark)];
  return {
    admit(pid) {
      family.admit(pid);
      guarded.push(endWithServer(pid, family.mark));
    },
    [Symbol.dispose]() {
      living.delete(family);
      for (const one of guarded) one[Symbol.dispose]();
    },
  };
}

/** How many commands run now. */
export function runningCommands(): number {
  return living.size;
}
