// Three replicas of one workspace, each with a directory and a state of its own, as on three machines. A replica can be
// killed and comes back with what it had, or as a new machine with nothing.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PostgresServer, startPostgres } from "../../test/store/postgres-server.ts";
import { type Answer, NoAnswer } from "../client/client.ts";
import { HttpServer, messageIn } from "../client/http-client.ts";
import { program } from "../places.ts";
import { Cable } from "./cable.ts";
import { DatabaseDisk } from "./database-disk.ts";

const both = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const era = "2026-07-28";
const meta = {
  "io.modelcontextprotocol/protocolVersion": era,
  "io.modelcontextprotocol/clientCapabilities": {},
};

export class Cluster implements AsyncDisposable {
  readonly base: string;
  readonly database: PostgresServer | undefined;
  readonly disk: DatabaseDisk;
  readonly #store: string;
  readonly #servers: HttpServer[] = [];
  /** The networks of the replicas, where they share a database. */
  readonly #cables: Cable[] = [];
  readonly #addresses: string[] = [];
  readonly #clock = fakeClock();

  private constructor(base: string, disk: DatabaseDisk, database: PostgresServer | undefined) {
    this.base = base;
    this.disk = disk;
    this.database = database;
    this.#store = database?.url ?? join(this.base, "store");
  }

  /** Where there is no PostgreSQL, the replicas share a directory. */
  static async start(count: number, files: Readonly<Record<string, string>>): Promise<Cluster> {
    const base = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-cluster-")));
    chmodSync(base, 0o755); // the database runs as another user
    const disk = new DatabaseDisk(join(base, "disk"));
    const cluster = new Cluster(base, disk, await startPostgres([], disk.path));
    cluster.command("store", "migrate");
    mkdirSync(cluster.root(0));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(cluster.root(0), name), text);
    for (let i = 0; i < count; i++) await cluster.startReplica(i);
    return cluster;
  }

  /** What `polyfs ARGS` prints. */
  command(...args: readonly string[]): string {
    const env = { ...process.env, POLYFS_STORE: this.#store };
    return execFileSync(process.execPath, [program, ...args], { env, encoding: "utf8" });
  }

  root(i: number): string {
    return join(this.base, `root${i}`);
  }

  get count(): number {
    return this.#servers.length;
  }

  async startReplica(i: number): Promise<void> {
    mkdirSync(this.root(i), { recursive: true });
    if (this.database !== undefined && this.#cables[i] === undefined) {
      const { cable, url } = await Cable.lay(this.#store);
      this.#cables[i] = cable;
      this.#addresses[i] = url;
    }
    const store = this.#addresses[i] ?? this.#store;
    const args = ["--store", store, "--stateless", "--allow-run=unsandboxed", "--log-level", "warn"];
    // The second replica's clock is an hour ahead, the third one's an hour behind.
    const offset = [undefined, "+3600s", "-3600s"][i % 3];
    const clock = this.#clock && offset ? { ...this.#clock, FAKETIME: offset } : {};
    const server = new HttpServer(this.root(i), join(this.base, `state${i}`), args, clock);
    this.#servers[i] = server;
    await server.url;
  }

  get hasClocks(): boolean {
    return this.#clock !== undefined;
  }

  /** Cuts a replica off from the database, and connects it again. False where there is nothing to cut. */
  cut(i: number): boolean {
    this.#cables[i]?.cut();
    return this.#cables[i] !== undefined;
  }

  heal(i: number): void {
    this.#cables[i]?.heal();
  }

  /** As a machine that loses power; `anew` also loses its disk. */
  async killReplica(i: number, anew: boolean): Promise<void> {
    const server = this.#servers[i];
    server?.kill();
    await server?.ended;
    server?.agent.destroy();
    if (!anew) return;
    for (const path of [this.root(i), join(this.base, `state${i}`)])
      rmSync(path, { recursive: true, force: true });
  }

  async call(i: number, client: string, tool: string, args: object, patienceMs = 20_000): Promise<Answer> {
    const server = this.#servers[i];
    if (server === undefined || server.gone) throw new NoAnswer("gone", "the replica is down");
    const clientInfo = { name: client, version: "1" };
    const params = {
      name: tool,
      arguments: args,
      _meta: { ...meta, "io.modelcontextprotocol/clientInfo": clientInfo },
    };
    const headers = { ...both, "mcp-protocol-version": era, "mcp-method": "tools/call", "mcp-name": tool };
    const message = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const { body, status } = await server.post("/mcp", message, headers, { patienceMs });
    const found = messageIn(body);
    if (found?.error !== undefined) return { text: found.error.message, failed: true };
    if (found?.result === undefined) throw new NoAnswer("gone", `status ${status}: ${body.slice(0, 200)}`);
    const { content = [], isError } = found.result as { content?: { text?: string }[]; isError?: boolean };
    return { text: content.map(({ text = "" }) => text).join("\n"), failed: isError === true };
  }

  async url(i: number): Promise<string> {
    return (await this.#servers[i]?.url) ?? "";
  }

  said(i: number): string {
    return this.#servers[i]?.said ?? "";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) {
      server.kill();
      await server.ended;
      server.agent.destroy();
    }
    for (const cable of this.#cables) await cable[Symbol.asyncDispose]();
    await this.database?.[Symbol.asyncDispose]();
    await this.disk[Symbol.asyncDispose]();
    rmSync(this.base, { recursive: true, force: true });
  }
}

/** What makes a process believe in another time (libfaketime); undefined where it is not installed. */
function fakeClock(): Readonly<Record<string, string>> | undefined {
  const folders = ["/usr/lib", "/usr/local/lib"].filter(existsSync);
  const inner = folders.flatMap(folder => readdirSync(folder).map(name => join(folder, name)));
  const places = [...folders, ...inner].map(place => join(place, "faketime/libfaketime.so.1"));
  const found = places.find(existsSync);
  return found === undefined ? undefined : { LD_PRELOAD: found, FAKETIME_DONT_FAKE_MONOTONIC: "1" };
}
