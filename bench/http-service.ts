// polyfs in both eras and a server on the plain SDK, over HTTP with the same files and the same clients.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hashText, newToken, printTokens } from "../src/mcp/auth/tokens-file.ts";
import { HttpClient } from "./http-client.ts";
import { processorTime, residentOf } from "./processor-time.ts";

const program = fileURLToPath(new URL("../../dist/polyfs.cjs", import.meta.url)); // from where run.mjs bundles to
const plain = fileURLToPath(new URL("../../bench/floor/http-server.mjs", import.meta.url));

export type CallKind = "read" | "edit";

/** What a round of calls took. */
export interface Round {
  readonly perSecond: number;
  /** Processor time of the server for a call, in microseconds. */
  readonly micros: number;
  /** Of each call, in milliseconds. */
  readonly times: readonly number[];
}

/** A server with its clients, each of which has a file of its own. */
export class HttpServer {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #url: Promise<string>;
  readonly #modern: boolean;
  readonly #secrets: readonly string[];
  #clients: HttpClient[] = [];
  /** How often each file was edited. */
  readonly edits: number[];
  failed = 0;

  constructor(
    name: string,
    args: readonly string[],
    { secrets, state, modern = false }: { secrets: readonly string[]; state: string; modern?: boolean },
  ) {
    this.name = name;
    this.#modern = modern;
    this.#secrets = secrets;
    this.edits = secrets.map(() => 0);
    const child = spawn(process.execPath, args, {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, POLYFS_STATE_DIR: state },
    });
    this.#child = child;
    this.#url = new Promise((resolve, reject) => {
      let said = "";
      child.stderr?.on("data", chunk => {
        said += chunk;
        const [found] = /http:\/\/\S+\/mcp/.exec(said) ?? [];
        if (found !== undefined) resolve(found);
      });
      child.once("close", () => reject(new Error(`the server ended: ${said}`)));
    });
  }

  /** Connects the clients, and has the server compile what it needs. */
  async open(): Promise<void> {
    const url = await this.#url;
    this.#clients = this.#secrets.map(secret => new HttpClient(url, secret, this.#modern));
    for (const client of this.#clients) await client.open();
    const each = Math.ceil(400 / this.#clients.length);
    await this.round("read", each);
    await this.round("edit", Math.ceil(each / 5));
  }

  /** Each client does so many calls, one after the other. */
  async round(kind: CallKind, each: number): Promise<Round> {
    const times: number[] = [];
    const before = processorTime(this.#child.pid ?? 0);
    const started = performance.now();
    await Promise.all(
      this.#clients.map(async (client, n) => {
        for (let call = 0; call < each; call++) {
          const sent = performance.now();
          const path = `${n}.txt`;
          const now = this.edits[n] ?? 0;
          const [old_string, new_string] = [`count: ${now};`, `count: ${now + 1};`];
          const wrong = await (kind === "read"
            ? client.call("read_file", { path })
            : client.call("edit_file", { path, old_string, new_string }));
          if (wrong !== undefined && this.failed++ === 0) console.log(`${this.name}: ${wrong}`);
          else if (kind === "edit") this.edits[n] = now + 1;
          times.push(performance.now() - sent);
        }
      }),
    );
    const ms = performance.now() - started;
    const micros = ((processorTime(this.#child.pid ?? 0) - before) * 1000) / times.length;
    return { perSecond: (times.length * 1000) / ms, micros, times };
  }

  /** In MB. */
  get resident(): number {
    return residentOf(this.#child.pid ?? 0);
  }

  close(): void {
    this.#child.kill("SIGKILL");
    for (const client of this.#clients) client.close();
  }
}

/** The servers that are compared, on one directory with a file for each client. */
export class HttpService {
  readonly #scratch = mkdtempSync(join(tmpdir(), "polyfs-bench-http-"));
  readonly #root = join(this.#scratch, "root");
  readonly servers: readonly HttpServer[];

  constructor(clients: number) {
    mkdirSync(this.#root);
    const secrets = Array.from({ length: clients }, newToken);
    for (const n of secrets.keys()) this.#fill(n);
    const tokens = join(this.#scratch, "tokens.json");
    const known = secrets.map((secret, n) => ({ name: `client-${n}`, hash: hashText(secret) }));
    writeFileSync(tokens, printTokens(known));
    const limits = ["--max-requests-per-minute", "6000000", "--max-sessions", String(clients + 10)];
    const access = ["--http", "0", "--tokens", tokens, "--dialect", "agent-tools"];
    const own = [program, ...access, ...limits, this.#root];
    const state = (name: string) => join(this.#scratch, `state-${name}`);
    this.servers = [
      new HttpServer("polyfs", own, { secrets, state: state("sessions") }),
      new HttpServer("polyfs, 2026-07-28", own, { secrets, state: state("without"), modern: true }),
      new HttpServer("plain SDK", [plain, this.#root], { secrets, state: state("plain") }),
    ];
    process.once("exit", () => this.close());
  }

  /** Resets the files that a server edited, because the next one counts from 0 again. */
  reset({ edits }: HttpServer): void {
    for (const [n, count] of edits.entries()) if (count > 0) this.#fill(n);
    edits.fill(0);
  }

  close(): void {
    for (const server of this.servers) server.close();
    rmSync(this.#scratch, { recursive: true, force: true });
  }

  #fill(n: number): void {
    writeFileSync(join(this.#root, `${n}.txt`), `count: 0;\n${"a line of text\n".repeat(250)}`);
  }
}

export function quantile(values: readonly number[], q: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * q)] ?? Number.NaN;
}
