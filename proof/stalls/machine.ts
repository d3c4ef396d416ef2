// Whether the host took processors or memory from this virtual machine. Such time counts as processor time of the
// waiting process.
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** Of the time of all processors. */
const mostStolen = 0.02;
/** Against the best time for the same work. */
const mostSlower = 2;

export class Machine {
  #best = Math.min(...Array.from({ length: 5 }, workMs));

  /** Begins to watch; the answer tells whether the time since then says nothing about the program. */
  watch(): () => boolean {
    const [began, stolen] = [performance.now(), stolenMs()];
    return () => {
      const share = (stolenMs() - stolen) / (performance.now() - began) / availableParallelism();
      const took = workMs();
      this.#best = Math.min(this.#best, took);
      return share > mostStolen || took > mostSlower * this.#best;
    };
  }
}

/** The time that the host took from this machine so far; zero where that is not known. */
function stolenMs(): number {
  try {
    const [, , , , , , , , ticks = "0"] = readFileSync("/proc/stat", "utf8").split(/\s+/, 9);
    return Number(ticks) * 10;
  } catch {
    return 0;
  }
}

/** Some work with numbers and with memory. */
function workMs(): number {
  const began = performance.now();
  const bytes = Buffer.alloc(32_000_000, 1);
  let sum = 0;
  for (let i = 0; i < 20_000_000; i++) sum = (sum + (bytes[i] ?? 0) * i) | 0;
  return sum === 0.5 ? 0 : performance.now() - began;
}
