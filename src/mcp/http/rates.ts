// Rate limit per caller: a token bucket of this many requests per minute.
import { clock } from "../../engine/clock.ts";
import { Refusal } from "./refusal.ts";

interface Bucket {
  left: number;
  at: number;
}

const minuteMs = 60_000;

export class Rates {
  readonly #buckets = new Map<string, Bucket>();

  /** Throws if the caller has asked too often. */
  count(caller: string, perMinute: number, now = clock()): void {
    const seconds = this.waitOf(caller, perMinute, now);
    if (seconds === undefined) return;
    throw new Refusal(429, `Too many requests: up to ${perMinute} in a minute`, {
      headers: { "retry-after": String(seconds) },
    });
  }

  /** Counts a request; where the caller has asked too often, returns how many seconds it must wait. */
  waitOf(caller: string, perMinute: number, now = clock()): number | undefined {
    const bucket = this.#buckets.get(caller) ?? { left: perMinute, at: now };
    bucket.left = Math.min(perMinute, bucket.left + ((now - bucket.at) / minuteMs) * perMinute);
    bucket.at = now;
    // The latest is last, so that full buckets come first and can be dropped.
    this.#buckets.delete(caller);
    this.#buckets.set(caller, bucket);
    this.#forget(now);
    if (bucket.left < 1) return Math.ceil(((1 - bucket.left) / perMinute) * 60);
    bucket.left--;
    return undefined;
  }

  #forget(now: number): void {
    for (const [caller, { at }] of this.#buckets) {
      if (now - at < minuteMs) return;
      this.#buckets.delete(caller);
    }
  }
}
