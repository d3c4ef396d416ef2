// Turns. So many calls run at once, and so many of each caller, half of that while there are others; the rest wait
// in their caller's own line, and callers are served one after the other. One that sends thousands waits for itself
// and for nobody else.

interface Ticket {
  readonly limit: number;
  enter(): void;
}

interface Line {
  running: number;
  readonly waiting: Ticket[];
}

export class Lane {
  #free: number;
  /** In the order of their turns. */
  readonly #lines = new Map<string, Line>();

  constructor(slots: number) {
    this.#free = slots;
  }

  get running(): number {
    return this.#sum(line => line.running);
  }

  get waiting(): number {
    return this.#sum(line => line.waiting.length);
  }

  /** Waits for a turn of this caller, who may have `limit` calls running. Rejects when the signal is aborted. */
  async enter(caller: string, limit: number, signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    const line = this.#lines.get(caller) ?? { running: 0, waiting: [] };
    this.#lines.set(caller, line);
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        line.waiting.splice(line.waiting.indexOf(ticket), 1);
        this.#forget(caller, line);
        reject(signal.reason);
      };
      const ticket: Ticket = {
        limit,
        enter: () => {
          signal.removeEventListener("abort", leave);
          resolve();
        },
      };
      signal.addEventListener("abort", leave, { once: true });
      line.waiting.push(ticket);
      this.#admit();
    });
    let inside = true;
    return {
      [Symbol.dispose]: () => {
        if (!inside) return;
        inside = false;
        line.running--;
        this.#free++;
        this.#forget(caller, line);
        this.#admit();
      },
    };
  }

  #admit(): void {
    // Who gets a turn goes to the end, where this loop meets them again: it ends when nobody gets one.
    for (const [caller, line] of this.#lines) {
      if (this.#free === 0) return;
      const [ticket] = line.waiting;
      if (ticket === undefined) continue;
      const share = this.#lines.size > 1 ? Math.ceil(ticket.limit / 2) : ticket.limit;
      if (line.running >= share) continue;
      line.waiting.shift();
      line.running++;
      this.#free--;
      this.#lines.delete(caller);
      this.#lines.set(caller, line);
      ticket.enter();
    }
  }

  #forget(caller: string, line: Line): void {
    if (line.running === 0 && line.waiting.length === 0) this.#lines.delete(caller);
  }

  #sum(of: (line: Line) => number): number {
    let sum = 0;
    for (const line of this.#lines.values()) sum += of(line);
    return sum;
  }
}
