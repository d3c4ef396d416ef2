// A server over HTTP, and sessions with it. One process serves all dialects, each at its own address.
import { type ChildProcess, spawn } from "node:child_process";
import { Agent, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { codeCache, program } from "../places.ts";
import { type Client, clientInfo, type Message, NoAnswer, revision } from "./client.ts";

const living = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of living) child.kill("SIGKILL");
});

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface ServerPlace {
  /** A command that runs the server somewhere else; it must not be a process of its own. */
  readonly enter?: readonly string[];
  readonly listen?: string;
}

export class HttpServer {
  readonly #child: ChildProcess;
  readonly agent = new Agent({ keepAlive: true, maxSockets: 64 });
  readonly ended: Promise<{ code: number | null; signal: string | null }>;
  readonly url: Promise<string>;
  gone = false;
  said = "";

  constructor(
    root: string,
    state: string,
    args: readonly string[] = [],
    environment: Readonly<Record<string, string>> = {},
    { enter = [], listen = "0" }: ServerPlace = {},
  ) {
    const env = {
      ...process.env,
      POLYFS_STATE_DIR: state,
      POLYFS_CODE_CACHE: codeCache,
      ...environment,
    };
    const [first = process.execPath, ...more] = [...enter, process.execPath, program];
    const child = spawn(first, [...more, "--http", listen, ...args, root], {
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#child = child;
    living.add(child);
    this.ended = new Promise(resolve =>
      child.once("close", (code, signal) => {
        living.delete(child);
        this.gone = true;
        resolve({ code, signal });
      }),
    );
    this.url = new Promise((resolve, reject) => {
      child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
        this.said = (this.said + chunk).slice(-4000);
        const [found] = /http:\/\/[^/\s]+/.exec(this.said) ?? [];
        if (found !== undefined) resolve(found);
      });
      void this.ended.then(() => reject(new Error(`the server did not start: ${this.said}`)));
    });
    this.url.catch(() => undefined);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async post(
    path: string,
    body: string | Uint8Array,
    headers: Readonly<Record<string, string>> = {},
    { method = "POST", patienceMs = 120_000 } = {},
  ): Promise<Reply> {
    const url = new URL(path, await this.url);
    return await new Promise<Reply>((resolve, reject) => {
      const length = String(Buffer.byteLength(body));
      const sent = { ...headers, "content-length": length };
      const request = httpRequest(url, { method, headers: sent, agent: this.agent }, response => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", () => reject(new NoAnswer("gone", "the connection broke")));
        response.on("end", () => {
          const { statusCode: status = 0, headers } = response;
          resolve({ status, headers, body: Buffer.concat(chunks).toString() });
        });
      });
      request.setTimeout(patienceMs, () => {
        reject(new NoAnswer("late", `no answer within ${patienceMs} ms`));
        request.destroy();
      });
      request.on("error", error => reject(new NoAnswer("gone", error.message)));
      request.end(body);
    });
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  async close(): Promise<void> {
    this.agent.destroy();
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.kill(), 60_000);
    await this.ended;
    clearTimeout(timer);
  }
}

const both = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** One session of a 2025 client. */
export class HttpClient implements Client {
  readonly #server: HttpServer;
  readonly #path: string;
  /** What belongs to each request of the session. */
  headers: Readonly<Record<string, string>>;
  #ids = 0;

  private constructor(server: HttpServer, path: string) {
    this.#server = server;
    this.#path = path;
    this.headers = both;
  }

  static async open(server: HttpServer, dialect: string): Promise<HttpClient> {
    const client = new HttpClient(server, `/mcp/${dialect}`);
    const params = { protocolVersion: revision, capabilities: {}, clientInfo };
    const message = { jsonrpc: "2.0", id: 0, method: "initialize", params };
    const { headers, status, body } = await server.post(client.#path, JSON.stringify(message), both);
    const session = headers["mcp-session-id"];
    if (typeof session !== "string") throw new NoAnswer("gone", `no session: ${status} ${body}`);
    client.headers = { ...both, "mcp-session-id": session, "mcp-protocol-version": revision };
    const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };
    await server.post(client.#path, JSON.stringify(initialized), client.headers);
    return client;
  }

  async request(method: string, params?: unknown): Promise<Message> {
    const message = JSON.stringify({ jsonrpc: "2.0", id: ++this.#ids, method, params });
    const { status, body } = await this.#server.post(this.#path, message, this.headers);
    const found = messageIn(body);
    if (found === undefined) throw new Error(`status ${status} without an answer: ${body.slice(0, 200)}`);
    return found;
  }

  async close(): Promise<void> {
    await this.#server.post(this.#path, "", this.headers, { method: "DELETE" });
  }
}

/** The JSON-RPC message of a reply: the body, or the last event of a stream. */
export function messageIn(body: string): Message | undefined {
  // Only CR and LF end a line of a stream; U+2028 may be part of one.
  const lines = body.split(/\r\n|\r|\n/).filter(line => line.startsWith("data: "));
  const events = lines.map(line => line.slice("data: ".length));
  try {
    return JSON.parse(events.at(-1) ?? body);
  } catch {
    return undefined;
  }
}
