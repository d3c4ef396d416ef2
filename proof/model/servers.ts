// What serves a program's tree: one server with two connections over HTTP, a second server of the same dialect, and
// servers of other dialects, all on one directory and one history.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { holdsCommits } from "../../src/engine/workspace/commit/journal.ts";
import { type Client, call } from "../client/client.ts";
import { HttpClient, HttpServer } from "../client/http-client.ts";
import { StdioClient } from "../client/stdio-client.ts";
import { operationsByDialect } from "./operations-by-dialect.ts";

/** Looks at the journals, 20 ms apart. */
const mostTries = 250;

export class Servers {
  readonly root: string;
  /** All speak our own dialect. */
  readonly own: readonly Client[];
  readonly others: ReadonlyMap<string, Client>;
  readonly #http: HttpServer;
  readonly #state: string;

  private constructor(
    root: string,
    state: string,
    http: HttpServer,
    own: readonly Client[],
    others: ReadonlyMap<string, Client>,
  ) {
    this.root = root;
    this.#state = state;
    this.#http = http;
    this.own = own;
    this.others = others;
  }

  static async start(root: string, state: string): Promise<Servers> {
    const http = new HttpServer(root, state);
    const own = await Promise.all([
      HttpClient.open(http, "polyfs"),
      StdioClient.start({ dialect: "polyfs", root, state }),
      HttpClient.open(http, "polyfs"),
    ]);
    const others = new Map<string, Client>();
    for (const dialect of Object.keys(operationsByDialect)) {
      const client = await StdioClient.start({ dialect, root, state });
      if (dialect === "file-editor") await call(client, "set_workspace", { path: root });
      others.set(dialect, client);
    }
    return new Servers(root, state, http, own, others);
  }

  /**
   * The journals that still hold commits a while after the last call. Other processes wait for such a journal in every
   * call about history.
   */
  async standingJournals(): Promise<string[]> {
    for (let tries = 0; ; tries++) {
      const found = this.#journals().filter(path => holdsCommits(path) !== undefined);
      if (found.length === 0 || tries === mostTries) return found;
      await sleep(20);
    }
  }

  #journals(): string[] {
    const processes = join(this.#state, "processes");
    return readdirSync(processes).flatMap(folder =>
      readdirSync(join(processes, folder))
        .filter(name => name.startsWith("journal-"))
        .map(name => join(processes, folder, name)),
    );
  }

  async close(): Promise<void> {
    await Promise.all([...this.own, ...this.others.values()].map(client => client.close()));
    await this.#http.close();
  }
}
