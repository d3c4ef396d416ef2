// A round-robin queue. It runs so many calls at once, and so many per caller: half of that while other callers have
// calls here. Each caller waits in its own queue, and the callers take turns, so a caller with thousands of calls delays
// only itself.

interface Ticket {
  readonly limit: number;
  enter(): void;
}

interface CallerQueue {
  running: number;
  readonly waiting: Ticket[];
}

export class FairQueue {
  #free: number;
  /** In the order of their turns. */
  readonly #queues = new Map<string, CallerQueue>();

  constructor(slots: number) {
    this.#free = slots;
  }

  get running(): number {
    return this.#sum(queue => queue.running);
  }

  get waiting(): number {
    return this.#sum(queue => queue.waiting.length);
  }

  /** Waits for this caller's turn; the caller may have `limit` calls running. Rejects when the signal is aborted. */
  async enter(caller: string, limit: number, signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    const queue = this.#queues.get(caller) ?? { running: 0, waiting: [] };
    this.#queues.set(caller, queue);
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        queue.waiting.splice(queue.waiting.indexOf(ticket), 1);
        this.#forget(caller, queue);
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
      queue.waiting.push(ticket);
      this.#admit();
    });
    let inside = true;
    return {
      [Symbol.dispose]: () => {
        if (!inside) return;
        inside = false;
        queue.running--;
        this.#free++;
        this.#forget(caller, queue);
        this.#admit();
      },
    };
  }

  #admit(): void {
    // An admitted caller moves to the end of the map, so the loop reaches it again. It ends when no caller is admitted.
    for (const [caller, queue] of this.#queues) {
      if (this.#free === 0) return;
      const [ticket] = queue.waiting;
      if (ticket === undefined) continue;
      const share = this.#queues.size > 1 ? Math.ceil(ticket.limit / 2) : ticket.limit;
      if (queue.running >= share) continue;
      queue.waiting.shift();
      queue.running++;
      this.#free--;
      this.#queues.delete(caller);
      this.#queues.set(caller, queue);
      ticket.enter();
    }
  }

  #forget(caller: string, queue: CallerQueue): void {
    if (queue.running === 0 && queue.waiting.length === 0) this.#queues.delete(caller);
  }

  #sum(of: (queue: CallerQueue) => number): number {
    let sum = 0;
    for (const queue of this.#queues.values()) sum += of(queue);
    return sum;
  }
}
