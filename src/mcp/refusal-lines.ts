// Refused requests in the audit log. They cost their sender nothing, so a flood of them must not push other lines out:
// of one sender, the first ones have lines of their own, and then one each second. The others are counted, and a line
// says how many there were. So one sender would need more than a week to push a line out of a log of the default size.
import { clock } from "../engine/clock.ts";

type RefusalEntry = Readonly<Record<string, unknown>>;

interface RefusalLinesOptions {
  /** How many have lines of their own at once. */
  readonly burst?: number;
  /** How long until there is one more. */
  readonly everyMs?: number;
  /** How often the others are reported. */
  readonly reportMs?: number;
  /** How many addresses are tracked separately. */
  readonly senders?: number;
}

interface RefusedSender {
  readonly who: RefusalEntry;
  /** How many more lines it may have. */
  lines: number;
  at: number;
  /** Those without lines, by status or error code. */
  readonly counts: Map<string, number>;
  since: string;
}

export class RefusalLines implements Disposable {
  readonly #write: (entry: RefusalEntry) => void;
  readonly #options: Required<RefusalLinesOptions>;
  readonly #senders = new Map<string, RefusedSender>();
  #timer: NodeJS.Timeout | undefined;

  constructor(write: (entry: RefusalEntry) => void, options: RefusalLinesOptions = {}) {
    this.#write = write;
    this.#options = { burst: 10, everyMs: 1000, reportMs: 10_000, senders: 100, ...options };
  }

  /** Writes an entry with `caller` or `address`, or counts it. */
  take(entry: RefusalEntry): void {
    const { caller, address, status, code } = entry;
    const sender = this.#sender(caller === undefined ? { address } : { caller });
    if (sender.lines >= 1) {
      sender.lines--;
      this.#write(entry);
      return;
    }
    if (sender.counts.size === 0) sender.since = new Date().toISOString();
    const kind = String(status ?? code);
    sender.counts.set(kind, (sender.counts.get(kind) ?? 0) + 1);
  }

  #sender(who: RefusalEntry): RefusedSender {
    const { burst, everyMs, reportMs, senders } = this.#options;
    const name = JSON.stringify(who);
    // Callers are few, and known by name: addresses must not take their places.
    const isKnown = "caller" in who || this.#senders.has(name) || this.#senders.size < senders;
    const key = isKnown ? name : "";
    const now = clock();
    const sender = this.#senders.get(key) ?? {
      who: isKnown ? who : { address: "others" },
      lines: burst,
      at: now,
      counts: new Map(),
      since: "",
    };
    sender.lines = Math.min(burst, sender.lines + (now - sender.at) / everyMs);
    sender.at = now;
    this.#senders.set(key, sender);
    this.#timer ??= setInterval(() => this.#report(), reportMs).unref();
    return sender;
  }

  #report(): void {
    const { burst, everyMs } = this.#options;
    for (const [key, sender] of this.#senders) {
      const { who, counts, since, lines, at } = sender;
      if (counts.size > 0) {
        const count = [...counts.values()].reduce((sum, n) => sum + n, 0);
        this.#write({ ...who, decision: "denied", count, since, by: Object.fromEntries(counts) });
        counts.clear();
      } else if (lines + (clock() - at) / everyMs >= burst) this.#senders.delete(key);
    }
    if (this.#senders.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  [Symbol.dispose](): void {
    this.#report();
    clearInterval(this.#timer);
  }
}
