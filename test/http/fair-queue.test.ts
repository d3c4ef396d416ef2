// The queue of calls over HTTP, without a server: how many calls of each caller run, and in which order.
import { expect, it } from "vitest";
import { FairQueue } from "../../src/mcp/http/fair-queue.ts";

/** Enters calls, and notes which of them have started. */
class Calls {
  readonly started: string[] = [];
  readonly #queue: FairQueue;
  readonly #inside = new Map<string, Disposable>();

  constructor(queue: FairQueue) {
    this.#queue = queue;
  }

  async enter(names: readonly string[], limit: number, signal = new AbortController().signal): Promise<void> {
    for (const name of names) {
      const call = { aborted: signal.aborted, signal };
      this.#queue.enter(name[0] ?? "", limit, call).then(
        slot => {
          this.started.push(name);
          this.#inside.set(name, slot);
        },
        () => {},
      );
    }
    await turn();
  }

  async end(...names: readonly string[]): Promise<void> {
    for (const name of names) this.#inside.get(name)?.[Symbol.dispose]();
    await turn();
  }
}

const turn = () => new Promise(resolve => setImmediate(resolve));

it("a caller alone runs as many calls as its limit, and half as many while another caller is here", async () => {
  const queue = new FairQueue(100);
  const calls = new Calls(queue);
  await calls.enter(["a1", "a2", "a3", "a4", "a5"], 4);
  expect(calls.started).toEqual(["a1", "a2", "a3", "a4"]);
  await calls.enter(["b1", "b2", "b3"], 4);
  expect(calls.started.slice(4)).toEqual(["b1", "b2"]);
  // The first caller is above its half, so its next call waits until it is below.
  await calls.end("a1", "a2");
  expect(calls.started.slice(6)).toEqual([]);
  await calls.end("a3");
  expect(calls.started.slice(6)).toEqual(["a5"]);
  // When the first caller has left, the second one has its whole limit again.
  await calls.enter(["b4", "b5"], 4);
  expect(calls.started.slice(7)).toEqual([]);
  await calls.end("a4", "a5");
  expect(calls.started.slice(7)).toEqual(["b3", "b4"]);
  expect([queue.running, queue.waiting]).toEqual([4, 1]);
});

it("callers take turns for a free slot, however many calls one of them has", async () => {
  const calls = new Calls(new FairQueue(1));
  await calls.enter(["a1", "a2", "a3", "b1", "c1"], 4);
  for (const name of ["a1", "a2", "b1", "c1"]) await calls.end(name);
  expect(calls.started).toEqual(["a1", "a2", "b1", "c1", "a3"]);
});

it("a call that is cancelled while it waits leaves the queue", async () => {
  const queue = new FairQueue(1);
  const calls = new Calls(queue);
  const cancelled = new AbortController();
  await calls.enter(["a1"], 1);
  await calls.enter(["b1"], 1, cancelled.signal);
  await calls.enter(["c1"], 1);
  cancelled.abort();
  await calls.end("a1");
  expect(calls.started).toEqual(["a1", "c1"]);
  expect([queue.running, queue.waiting]).toEqual([1, 0]);
});
