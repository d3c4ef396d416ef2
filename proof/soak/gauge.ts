// Memory and open files of a server that lives through the whole run, looked at now and then.
import { openFiles, residentMb } from "../client/process-facts.ts";

interface Look {
  readonly minute: number;
  readonly mb: number;
  readonly files: number;
}

export class Gauge {
  readonly name: string;
  readonly #pid: number;
  readonly #looks: Look[] = [];
  readonly #from = Date.now();

  constructor(name: string, pid: number) {
    this.name = name;
    this.#pid = pid;
  }

  look(): void {
    const [mb, files] = [residentMb(this.#pid), openFiles(this.#pid)];
    if (mb === undefined || files === undefined) return;
    this.#looks.push({ minute: (Date.now() - this.#from) / 60_000, mb, files });
  }

  get memory(): { start: number; most: number; end: number; slope: number } {
    const values = this.#looks.map(({ mb }) => mb);
    const [start = 0] = values;
    return { start, most: Math.max(0, ...values), end: values.at(-1) ?? 0, slope: this.#slope() };
  }

  get files(): { start: number; end: number } {
    return { start: this.#looks[0]?.files ?? 0, end: this.#looks.at(-1)?.files ?? 0 };
  }

  /** MB a minute, over the second half of the run: before, caches fill. */
  #slope(): number {
    const half = this.#looks.slice(Math.floor(this.#looks.length / 2));
    const mean = (pick: (look: Look) => number) =>
      half.reduce((sum, look) => sum + pick(look), 0) / half.length;
    const [minute, mb] = [mean(look => look.minute), mean(look => look.mb)];
    const spread = half.reduce((sum, look) => sum + (look.minute - minute) ** 2, 0);
    const together = half.reduce((sum, look) => sum + (look.minute - minute) * (look.mb - mb), 0);
    return spread === 0 ? 0 : together / spread;
  }
}
