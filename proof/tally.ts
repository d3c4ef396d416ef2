// Counts what was tried and keeps what failed, with everything that is needed to try it again.
export interface TallyOptions {
  readonly seed: number;
  /** Only cases whose ids begin with this are tried. */
  readonly only?: string;
  /** Told about each failure as it comes. */
  readonly say?: (line: string) => void;
}

/** A run that breaks everything need not print everything. */
const kept = 100;

export class Tally {
  readonly name: string;
  readonly seed: number;
  readonly failures: string[] = [];
  /** Cases that this machine cannot run, and why. */
  readonly notRun = new Map<string, string>();
  readonly #options: TallyOptions;
  #tried = 0;
  #failed = 0;

  constructor(name: string, options: TallyOptions) {
    this.name = name;
    this.seed = options.seed;
    this.#options = options;
  }

  get tried(): number {
    return this.#tried;
  }

  /** Whether a case is to be run: all of them, unless one was asked for. */
  wants(id: string): boolean {
    return this.#options.only === undefined || id.startsWith(this.#options.only);
  }

  survived(times = 1): void {
    this.#tried += times;
  }

  /** `what` names the case, and the tool where there is one. */
  failed(what: string, why: unknown): void {
    this.#tried++;
    this.#failed++;
    const reason = why instanceof Error ? why.message : String(why);
    const line = `${this.name} ${what}: ${reason} (repeat with --seed ${this.seed})`;
    if (this.failures.length < kept) this.failures.push(line);
    this.#options.say?.(`FAILED ${line}`);
  }

  /** Tries one case: it survives unless it throws. */
  async attempt(what: string, action: () => unknown): Promise<void> {
    try {
      await action();
    } catch (error) {
      this.failed(what, error);
      return;
    }
    this.survived();
  }

  skipped(id: string, why: string): void {
    if (this.wants(id)) this.notRun.set(id, why);
  }

  /** One line: `attack: 5,214 tried, 5,214 survived, 0 failed`. */
  summary(): string {
    const count = (number: number) => number.toLocaleString("en-US");
    const counts = [
      `${count(this.#tried)} tried`,
      `${count(this.#tried - this.#failed)} survived`,
      `${count(this.#failed)} failed`,
    ];
    if (this.notRun.size > 0) counts.push(`${count(this.notRun.size)} not run here`);
    return `${this.name}: ${counts.join(", ")}`;
  }
}
