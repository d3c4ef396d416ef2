// The connections to PostgreSQL: a pool with limits in time and number. A broken connection is replaced, and what was
// asked is asked again, because every statement of the store can be repeated without harm.
import { setTimeout } from "node:timers/promises";
import type { Client, Pool, PoolConfig } from "pg";
import { Fault } from "../../fault.ts";
import { timeoutFor } from "../request-timeout.ts";
import { failureOf, isPassing } from "./failure.ts";
import { guarded } from "./guarded-client.ts";
import { type PlainRow, PlainRows } from "./plain-rows.ts";
import { protectionOf } from "./tls.ts";

export type SqlQuery = <Row extends object>(text: string, values?: readonly unknown[]) => Promise<Row[]>;

export interface SqlConnectionOptions {
  /** Default 10. */
  readonly connections?: number | undefined;
  /**
   * How long one statement may take, the network included, before the connection is given up. Default 10 s. What a
   * statement carries, and a look at the whole store, add to that.
   */
  readonly patienceMs?: number | undefined;
}

interface StatementScope {
  /** Each connection parses and plans the statement once, under this name. */
  readonly name?: string;
  /** How many bytes the answer may have. */
  readonly answerBytes?: number;
  /** It looks at everything, so it takes as long as there is much. */
  readonly isOfAll?: boolean;
}

/** Waits between attempts: together they bridge a restart of the database, and a failover that is quick. */
const pausesMs = [50, 200, 500, 1000];
const timeoutForAllMs = 3_600_000;
const hintChannel = "polyfs";
const listenAgainMs = 1000;
/** The connection that listens is tried this often, in terms of patience: a network may drop it without a word. */
const listenProbes = 3;

export class Connections implements AsyncDisposable {
  readonly #pool: Pool;
  readonly #newClient: () => Client;
  readonly #patienceMs: number;
  #listening: Client | undefined;
  #closed = false;
  /** Not behind a pooler that gives each statement another connection. */
  #prepares = true;

  private constructor(pool: Pool, newClient: () => Client, patienceMs: number) {
    this.#pool = pool;
    this.#newClient = newClient;
    this.#patienceMs = patienceMs;
    // An idle connection that breaks is not news: the next question gets another one.
    pool.on("error", () => {});
  }

  /** Connects once, so that a wrong address or password fails at the start. Faults: `store_unavailable`. */
  static async open(address: string, options: SqlConnectionOptions = {}): Promise<Connections> {
    const { connections = 10, patienceMs = 10_000 } = options;
    const url = new URL(address);
    const attempts = protectionOf(url);
    if (attempts === undefined) throw invalid("sslmode or sslrootcert cannot be used");
    for (const parameter of ["sslmode", "sslrootcert"]) url.searchParams.delete(parameter);
    const { default: pg } = await import("pg");
    const Client = guarded(pg.Client);
    let last: unknown;
    for (const ssl of attempts) {
      const config: PoolConfig = {
        connectionString: url.href,
        ssl,
        max: connections,
        connectionTimeoutMillis: Math.min(patienceMs, 5000),
        query_timeout: patienceMs,
        idleTimeoutMillis: 60_000,
        keepAlive: true,
        application_name: "polyfs",
        allowExitOnIdle: true,
      };
      const pool = new pg.Pool({ ...config, Client });
      const own = new Connections(pool, () => new Client(config), patienceMs);
      try {
        await own.query("select 1");
        return own;
      } catch (error) {
        await own[Symbol.asyncDispose]();
        last = error;
        if (!/does not support SSL/i.test(Fault.is(error, "store_unavailable") ? error.data.detail : ""))
          break;
      }
    }
    throw last;
  }

  /** Runs a statement that is run before every read: with its columns as text. */
  plain(name: string, text: string, values: readonly string[]): Promise<readonly PlainRow[]> {
    return this.#untilAnswered(
      // The pool gives pg a callback for it, and resolves to what that is called with.
      own => this.#pool.query(new PlainRows(text, values, own)) as unknown as Promise<readonly PlainRow[]>,
      name,
    );
  }

  /** Runs a statement, again where the connection broke. */
  query<Row extends object>(
    text: string,
    values: readonly unknown[] = [],
    { name, answerBytes = 0, isOfAll = false }: StatementScope = {},
  ): Promise<Row[]> {
    const carried = answerBytes + values.reduce<number>((sum, one) => sum + bytesOf(one), 0);
    const query_timeout = isOfAll ? timeoutForAllMs : timeoutFor(this.#patienceMs, carried);
    return this.#untilAnswered(async own => {
      const query = { text, values: [...values], query_timeout, ...(own !== undefined && { name: own }) };
      return (await this.#pool.query<Row>(query)).rows;
    }, name);
  }

  /** `ask` is given the name where the statement can be prepared under it. */
  async #untilAnswered<T>(ask: (name: string | undefined) => Promise<T>, name?: string): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await ask(this.#prepares ? name : undefined);
      } catch (error) {
        if (this.#prepares && name !== undefined && isUnprepared(error)) {
          this.#prepares = false;
          continue;
        }
        const pause = pausesMs[attempt];
        const failure = failureOf(error);
        if (this.#closed || pause === undefined || !isPassing(error) || isDead(failure)) throw failure;
        await setTimeout(pause);
      }
    }
  }

  /** Runs statements on one connection, none of them twice. */
  async alone<T>(action: (query: SqlQuery) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect().catch(error => {
      throw failureOf(error);
    });
    try {
      return await action(async (text, values = []) => (await client.query(text, [...values])).rows);
    } catch (error) {
      throw failureOf(error);
    } finally {
      client.release();
    }
  }

  /** Notifies every listener. The caller does not wait, and the notification may be lost. */
  hint(text: string): void {
    this.#pool.query("select pg_notify($1, $2)", [hintChannel, text]).catch(() => {});
  }

  /**
   * Listens on a connection of its own, and connects again until it is closed. `reconnected`: what was announced in between
   * was not heard. It is tried until it succeeds.
   */
  listen(listener: (text: string) => void, reconnected: () => Promise<void>, isFirst = true): void {
    if (this.#closed) return;
    const client = this.#newClient();
    this.#listening = client;
    let ended = false;
    const probe = setInterval(
      () => client.query("select 1").catch(() => again()),
      listenProbes * this.#patienceMs,
    ).unref();
    const again = () => {
      if (ended) return;
      ended = true;
      clearInterval(probe);
      client.end().catch(() => {});
      if (!this.#closed)
        globalThis.setTimeout(() => this.listen(listener, reconnected, false), listenAgainMs).unref();
    };
    const catchUp = async () => {
      while (!ended && !this.#closed) {
        try {
          return await reconnected();
        } catch {
          await setTimeout(listenAgainMs, undefined, { ref: false });
        }
      }
    };
    client.on("error", again);
    client.on("end", again);
    client.on("notification", ({ payload }) => listener(payload ?? ""));
    client
      .connect()
      .then(() => client.query(`listen ${hintChannel}`))
      .then(() => (isFirst ? undefined : catchUp()), again);
  }

  get waiting(): number {
    return this.#pool.waitingCount;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await Promise.all([this.#listening?.end(), this.#pool.end()]).catch(() => {});
  }
}

function bytesOf(value: unknown): number {
  return Buffer.isBuffer(value) || typeof value === "string" ? value.length : 0;
}

/** Patience has run out already: asking again would double it. */
function isDead(failure: unknown): boolean {
  return Fault.is(failure, "store_unavailable") && /timeout/i.test(failure.data.detail);
}

/** The connection does not know the statement, or knows another one of that name. */
function isUnprepared(error: unknown): boolean {
  const { code } = error as { readonly code?: string };
  return code === "26000" || code === "42P05";
}

function invalid(detail: string): Fault {
  return new Fault("store_unavailable", { reason: "invalid", detail });
}
