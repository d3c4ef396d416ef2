// A round-robin queue. It runs this many calls at once, and so many per caller: half of that while other callers have
// calls here. Each caller waits in its own queue, and the callers take turns, so a caller with thousands of calls delays
// only itself.

interface Ticket {
  readonly limit: number;
  enter(): void;
}

/** A call that may be aborted while it waits. */
interface AbortableCall {
  readonly aborted: boolean;
  readonly signal: AbortSignal;
}

interface CallerQueue {
  running: number;
  readonly waiting: Ticket[];
}

/** The most slots that are lent, as a multiple of the queue's own. */
const mostLent = 8;

export class FairQueue {
  readonly #slots: number;
  readonly #waitingInside: () => number;
  #free: number;
  /** In the order of their turns. */
  readonly #queues = new Map<string, CallerQueue>();

  /** `waitingInside`: how many of the running calls wait for something else; their slots are lent to others. */
  constructor(slots: number, waitingInside: () => number = () => 0) {
    this.#slots = slots;
    this.#free = slots;
    this.#waitingInside = waitingInside;
  }

  get #hasSlot(): boolean {
    return this.#free + Math.min(this.#waitingInside(), mostLent * this.#slots) > 0;
  }

  get running(): number {
    return this.#sum(queue => queue.running);
  }

  get waiting(): number {
    return this.#sum(queue => queue.waiting.length);
  }

  /**
   * Waits for this caller's turn; the caller may have `limit` calls running. Rejects when the call is aborted; its
   * signal is asked for only if it has to wait.
   */
  async enter(caller: string, limit: number, call: AbortableCall): Promise<Disposable> {
    if (call.aborted) call.signal.throwIfAborted();
    const queue = this.#queues.get(caller) ?? { running: 0, waiting: [] };
    this.#queues.set(caller, queue);
    if (this.#free <= 0 && this.#hasSlot) this.#admit();
    // If a slot is free, every waiting call is held back by its own caller's limit, so this call skips no one.
    if (this.#hasSlot && queue.waiting.length === 0 && queue.running < this.#share(limit))
      this.#start(caller, queue);
    else await this.#wait(caller, queue, limit, call.signal);
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

  #wait(caller: string, queue: CallerQueue, limit: number, signal: AbortSignal): Promise<void> {
    return new Promise<void>((resolve, reject) => {
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
    });
  }

  #share(limit: number): number {
    return this.#queues.size > 1 ? Math.ceil(limit / 2) : limit;
  }

  /** The caller moves to the end of the turns. */
  #start(caller: string, queue: CallerQueue): void {
    queue.running++;
    this.#free--;
    this.#queues.delete(caller);
    this.#queues.set(caller, queue);
  }

  #admit(): void {
    // An admitted caller moves to the end of the map, so the loop reaches it again. It ends when no caller is admitted.
    for (const [caller, queue] of this.#queues) {
      if (!this.#hasSlot) return;
      const [ticket] = queue.waiting;
      if (ticket === undefined) continue;
      if (queue.running >= this.#share(ticket.limit)) continue;
      queue.waiting.shift();
      this.#start(caller, queue);
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
