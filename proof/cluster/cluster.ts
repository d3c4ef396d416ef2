// Three replicas of one workspace, each with a directory and a state of its own, as on three machines. A replica can be
// killed and comes back with what it had, or as a new machine with nothing.
import { execFile, execFileSync } from "node:child_process";
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
import { Network, type NetworkPlace } from "./network.ts";

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
  /** The networks of the replicas, where they have some of their own. */
  readonly #network: Network | undefined;
  readonly #places: NetworkPlace[] = [];
  /** Replaces the networks if the replicas share a database. */
  readonly #cables: Cable[] = [];
  readonly #addresses: string[] = [];
  readonly #cut = new Set<number>();
  #token = "";
  readonly #clock = fakeClock();

  private constructor(
    base: string,
    disk: DatabaseDisk,
    database: PostgresServer | undefined,
    network: Network | undefined,
  ) {
    this.base = base;
    this.disk = disk;
    this.database = database;
    this.#network = network;
    this.#store = database?.url ?? join(this.base, "store");
  }

  /**
   * Where there is no PostgreSQL, the replicas share a directory. `apart` gives each replica a network of its own, where
   * that is possible.
   */
  static async start(
    count: number,
    files: Readonly<Record<string, string>>,
    { apart = false } = {},
  ): Promise<Cluster> {
    const base = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-cluster-")));
    chmodSync(base, 0o755); // the database runs as another user
    const disk = new DatabaseDisk(join(base, "disk"));
    const network = apart ? Network.lay() : undefined;
    const database = await startPostgres(network ? openTo(base, network) : [], disk.path);
    const cluster = new Cluster(base, disk, database, network);
    cluster.command("store", "migrate");
    // A server that listens on more than loopback must require tokens.
    if (network !== undefined) {
      const rights = ["--effects", "reads,writes,runs", "--tokens", cluster.#tokens];
      cluster.#token = cluster.command("token", "add", "agents", ...rights).trim();
    }
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

  /** Whether `polyfs ARGS` succeeds. Others go on meanwhile. */
  tryCommand(...args: readonly string[]): Promise<boolean> {
    const env = { ...process.env, POLYFS_STORE: this.#store };
    return new Promise(resolve => {
      execFile(process.execPath, [program, ...args], { env }, error => resolve(error === null));
    });
  }

  root(i: number): string {
    return join(this.base, `root${i}`);
  }

  get #tokens(): string {
    return join(this.base, "tokens.json");
  }

  get count(): number {
    return this.#servers.length;
  }

  async startReplica(i: number): Promise<void> {
    mkdirSync(this.root(i), { recursive: true });
    await this.#connect(i);
    const store = this.#addresses[i] ?? this.#store;
    const args = [
      ...["--store", store, "--stateless", "--allow-run=unsandboxed", "--log-level", "warn"],
      ...["--max-concurrent-calls", "1000"],
      ...(this.#token === "" ? [] : ["--tokens", this.#tokens, "--max-requests-per-minute", "1000000"]),
    ];
    const ahead = secondsAhead(i);
    const clock =
      this.#clock && ahead !== 0
        ? { ...this.#clock, FAKETIME: `${ahead > 0 ? "+" : "-"}${Math.abs(ahead)}s` }
        : {};
    const place = this.#places[i];
    const server = new HttpServer(
      ...([this.root(i), join(this.base, `state${i}`), args, clock] as const),
      place && { enter: place.enter, listen: `${place.host}:0` },
    );
    this.#servers[i] = server;
    await server.url;
  }

  /** A replica keeps its place in the network when it is started again. */
  async #connect(i: number): Promise<void> {
    if (this.database === undefined || this.#addresses[i] !== undefined) return;
    if (this.#network === undefined) {
      const { cable, url } = await Cable.lay(this.#store);
      this.#cables[i] = cable;
      this.#addresses[i] = url;
      return;
    }
    this.#places[i] = this.#network.place(i);
    const url = new URL(this.#store);
    url.hostname = this.#network.database;
    this.#addresses[i] = url.href;
  }

  get hasNetworks(): boolean {
    return this.#network !== undefined;
  }

  get hasClocks(): boolean {
    return this.#clock !== undefined;
  }

  /** That the clock of each replica is as far ahead as it should be: what makes it so may not work everywhere. */
  async assertClocks(): Promise<void> {
    for (let i = 0; i < this.count; i++) {
      const { headers } = await fetch(new URL("/healthz", await this.url(i)));
      const seconds = (Date.parse(headers.get("date") ?? "") - Date.now()) / 1000;
      if (!(Math.abs(seconds - secondsAhead(i)) < 60)) throw new Error(`replica ${i} is ${seconds} s ahead`);
    }
  }

  /** Cuts a replica off from the database, and connects it again. False if there is nothing to cut. */
  cut(i: number): boolean {
    const place = this.#places[i] ?? this.#cables[i];
    place?.cut();
    if (place !== undefined) this.#cut.add(i);
    return place !== undefined;
  }

  heal(i: number): void {
    (this.#places[i] ?? this.#cables[i])?.heal();
    this.#cut.delete(i);
  }

  isCut(i: number): boolean {
    return this.#cut.has(i);
  }

  /** Like a machine that loses power; with `anew`, also its disk. */
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
    await server.url.catch(() => {
      throw new NoAnswer("gone", "the replica does not start");
    });
    const clientInfo = { name: client, version: "1" };
    const params = {
      name: tool,
      arguments: args,
      _meta: { ...meta, "io.modelcontextprotocol/clientInfo": clientInfo },
    };
    const authorization = `Bearer ${this.#token}`;
    const own = { "mcp-protocol-version": era, "mcp-method": "tools/call", "mcp-name": tool };
    const headers = { ...both, ...own, authorization };
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
    this.#network?.[Symbol.dispose]();
    rmSync(this.base, { recursive: true, force: true });
  }
}

/** The second replica's clock is an hour ahead, the third one's an hour behind. */
function secondsAhead(replica: number): number {
  return [0, 3600, -3600][replica % 3] ?? 0;
}

/** Settings with which the database can be reached from the network of each replica. */
function openTo(base: string, { database }: Network): readonly string[] {
  const rules = join(base, "pg_hba.conf");
  writeFileSync(rules, "local all all trust\nhost all all all trust\n");
  return [`listen_addresses=127.0.0.1,${database}`, `hba_file=${rules}`];
}

/** What makes a process believe in another time (libfaketime); undefined if it is not installed. */
function fakeClock(): Readonly<Record<string, string>> | undefined {
  const folders = ["/usr/lib", "/usr/local/lib"].filter(existsSync);
  const inner = folders.flatMap(folder => readdirSync(folder).map(name => join(folder, name)));
  const places = [...folders, ...inner].map(place => join(place, "faketime/libfaketime.so.1"));
  const found = places.find(existsSync);
  return found === undefined ? undefined : { LD_PRELOAD: found, FAKETIME_DONT_FAKE_MONOTONIC: "1" };
}
