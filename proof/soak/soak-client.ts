// The connection of a client: its own server over standard input and output, or a session with the shared one over
// HTTP. Its dialect changes with each start.
import { performance } from "node:perf_hooks";
import { type Answer, type Client, call, NoAnswer } from "../client/client.ts";
import { HttpClient, type HttpServer } from "../client/http-client.ts";
import { StdioClient } from "../client/stdio-client.ts";
import type { Call } from "../model/calls.ts";
import type { Meter } from "./meter.ts";

export interface Place {
  readonly root: string;
  readonly state: string;
  readonly meter: Meter;
}

export class SoakClient {
  readonly #place: Place;
  readonly #dialects: readonly string[];
  readonly #http: HttpServer | undefined;
  #client: Client | undefined;
  #turn: number;

  /** Without an HTTP server it starts its own. */
  constructor(place: Place, dialects: readonly string[], turn: number, http?: HttpServer) {
    this.#place = place;
    this.#dialects = dialects;
    this.#turn = turn;
    this.#http = http;
  }

  get dialect(): string {
    return this.#dialects[this.#turn % this.#dialects.length] ?? "polyfs";
  }

  get pid(): number | undefined {
    return this.#client instanceof StdioClient ? this.#client.pid : undefined;
  }

  /** Begins again if the server is killed while it starts. */
  async open(): Promise<void> {
    for (;;)
      try {
        return await this.#start();
      } catch (error) {
        if (!(error instanceof NoAnswer) || error.reason !== "gone") throw error;
      }
  }

  async #start(): Promise<void> {
    const { root, state } = this.#place;
    const { dialect } = this;
    this.#client =
      this.#http === undefined
        ? await StdioClient.start({ dialect, root, state, patienceMs: 60_000 })
        : await HttpClient.open(this.#http, dialect);
    if (dialect === "file-editor") await call(this.#client, "set_workspace", { path: root });
  }

  /** Undefined if no answer came: it is unknown whether it was done. */
  async call(kind: string, { tool, args }: Call): Promise<Answer | undefined> {
    const { meter } = this.#place;
    if (this.#client === undefined) await this.open();
    const client = this.#client;
    if (client === undefined) return undefined;
    const from = performance.now();
    try {
      const answer = await call(client, tool, args);
      meter.call(kind, performance.now() - from);
      return answer;
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      if (error.reason === "late") meter.violation("unexpected error", `${kind}: ${error.message}`);
      meter.counts.unanswered++;
      this.#client = undefined;
      this.#turn++;
      return undefined;
    }
  }

  /** Exits cleanly, and starts again in the next dialect. */
  async restart(): Promise<void> {
    await this.close();
    this.#turn++;
    this.#place.meter.counts.restarts++;
    await this.open();
  }

  /** As the kernel's out-of-memory killer does. */
  kill(): boolean {
    if (!(this.#client instanceof StdioClient)) return false;
    this.#client.kill();
    this.#place.meter.counts.kills++;
    return true;
  }

  async close(): Promise<void> {
    try {
      await this.#client?.close();
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
    }
    this.#client = undefined;
  }
}
