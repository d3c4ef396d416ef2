// Texts that take too long to be parsed from scratch for every answer. Their files are parsed once in the background, and
// those that cannot be parsed in time are left alone for a while.

const largeLength = 200_000;
const mostSlow = 100;
const slowForMs = 300_000;

export function isLarge(text: string): boolean {
  return text.length > largeLength;
}

export class LargeFiles {
  readonly #running = new Set<string>();
  /** With the time at which parsing was given up. */
  readonly #slow = new Map<string, number>();

  /** Whether there is no point in parsing another text of this file now. */
  isLeftAlone(file: string): boolean {
    return this.#running.has(file) || performance.now() - (this.#slow.get(file) ?? -slowForMs) < slowForMs;
  }

  begin(file: string): void {
    this.#running.add(file);
  }

  end(file: string, isParsed: boolean): void {
    this.#running.delete(file);
    if (isParsed) return;
    if (this.#slow.size >= mostSlow) this.#slow.clear();
    this.#slow.set(file, performance.now());
  }
}
