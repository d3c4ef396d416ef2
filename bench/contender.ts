// A participant in the race: a server with its adapter, or the limit. It does a sample of a scenario and says
// how long that took, how long the answers were, and what they said.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Adapter } from "./adapter.ts";
import { type Answer, Client } from "./client.ts";
import type { Corpus } from "./corpus.ts";
import { callsFor, type Job, type JobKind } from "./jobs.ts";
import { limits } from "./limits.ts";
import type { Scenario } from "./scenario.ts";

export interface Sample {
  readonly ms: number;
  readonly bytes: number;
  readonly answers: readonly string[];
  /** The error of a server that could not. */
  readonly failure?: string;
}

export interface Memory {
  readonly start?: number;
  readonly end?: number;
  readonly most?: number;
}

export interface Contender {
  readonly name: string;
  readonly family: Adapter["family"] | "limit";
  /** Undefined if it cannot do this. Rejects if the server does not work. */
  sample(scenario: Scenario, jobs: readonly Job[]): Promise<Sample | undefined>;
  close(): Promise<Memory>;
}

const running = new Set<Client>();
process.on("exit", () => {
  for (const client of running) client.kill();
});

export class ServerContender implements Contender {
  readonly name: string;
  readonly family: Adapter["family"];
  readonly #adapter: Adapter;
  readonly #corpus: Corpus;
  #client: Client | undefined;
  #memoryAtStart: number | undefined;

  constructor(adapter: Adapter, corpus: Corpus) {
    this.name = adapter.name;
    this.family = adapter.family;
    this.#adapter = adapter;
    this.#corpus = corpus;
  }

  async sample(scenario: Scenario, jobs: readonly Job[]): Promise<Sample | undefined> {
    if (scenario.start) return await this.#start();
    if (jobs.some(job => callsFor(this.#adapter.calls, job) === undefined)) return undefined;
    if (!scenario.fresh) return await this.#lasting(scenario, jobs);
    const client = await this.#launched();
    try {
      return await this.#measured(scenario, jobs, client);
    } finally {
      await this.#ended(client);
    }
  }

  /** On the server that serves all scenarios. One that does not answer is replaced, so that it misses only this one. */
  async #lasting(scenario: Scenario, jobs: readonly Job[]): Promise<Sample> {
    const client = await this.#server();
    try {
      return await this.#measured(scenario, jobs, client);
    } catch (error) {
      this.#client = undefined;
      this.#drop(client);
      throw error;
    }
  }

  async close(): Promise<Memory> {
    const memory = this.#client?.memory();
    if (this.#client !== undefined) await this.#ended(this.#client);
    return { start: this.#memoryAtStart, end: memory?.now, most: memory?.most };
  }

  async #measured({ together }: Scenario, jobs: readonly Job[], client: Client): Promise<Sample> {
    const groups = jobs.map(job => callsFor(this.#adapter.calls, job) ?? []);
    const answers: Answer[] = [];
    let ms = 0;
    for (const calls of together ? [groups.flat()] : groups) {
      const start = performance.now();
      const got = await Promise.all(calls.map(call => client.call(call)));
      ms += Math.max(...got.map(({ arrived }) => arrived)) - start;
      answers.push(...got);
    }
    return {
      ms,
      bytes: answers.reduce((sum, { bytes }) => sum + bytes, 0),
      answers: answers.map(({ text }) => text),
      failure: answers.find(({ failed }) => failed)?.text,
    };
  }

  async #start(): Promise<Sample> {
    const command = await this.#adapter.command(this.#fixture());
    const start = performance.now();
    const client = new Client(command);
    running.add(client);
    try {
      const { arrived, bytes, text } = await client.start();
      this.#memoryAtStart ??= client.memory()?.now;
      return { ms: arrived - start, bytes, answers: [text] };
    } finally {
      await this.#ended(client);
    }
  }

  async #server(): Promise<Client> {
    this.#client ??= await this.#launched();
    return this.#client;
  }

  async #launched(): Promise<Client> {
    const fixture = this.#fixture();
    const client = new Client(await this.#adapter.command(fixture));
    running.add(client);
    try {
      await client.start();
      const { greeting } = this.#adapter;
      if (greeting !== undefined) await client.call(greeting(fixture));
      return client;
    } catch (error) {
      this.#drop(client);
      throw error;
    }
  }

  /** A server that does not answer may not end by itself either, and would keep this process from ending. */
  #drop(client: Client): void {
    client.kill();
    running.delete(client);
  }

  async #ended(client: Client): Promise<void> {
    await client.close();
    running.delete(client);
  }

  #fixture() {
    const state = join(this.#corpus.state, this.name.replaceAll(/\W/g, "-"));
    mkdirSync(state, { recursive: true });
    return { root: this.#corpus.root, state };
  }
}

/** The work without a server. */
export const limitContender: Contender = {
  name: "limit",
  family: "limit",
  async sample({ start, together }, jobs) {
    // A start, and jobs at the same time, mean nothing here.
    if (start || together) return undefined;
    const answers: string[] = [];
    const before = performance.now();
    for (const job of jobs) answers.push(await done(job));
    return { ms: performance.now() - before, bytes: 0, answers };
  },
  close: async () => ({}),
};

function done<K extends JobKind>({ kind, what }: Job<K>): Promise<string> | string {
  return limits[kind](what);
}
