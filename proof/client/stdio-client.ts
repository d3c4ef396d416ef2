// A server as its own process, with one message per line.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { codeCache, program } from "../places.ts";
import { type Client, clientInfo, type Message, NoAnswer, revision } from "./client.ts";

export interface StdioOptions {
  readonly dialect: string;
  readonly root: string;
  /** Its state directory. Left out: the one of the user in `env`. */
  readonly state?: string;
  /** Variables besides those of this process; undefined removes one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly args?: readonly string[];
  /** The name by which the history knows it. */
  readonly client?: string;
  /** How long an answer may take. */
  readonly patienceMs?: number;
}

interface Waiting {
  resolve(message: Message): void;
  reject(error: Error): void;
}

const living = new Set<ChildProcessWithoutNullStreams>();
process.once("exit", () => {
  for (const child of living) child.kill("SIGKILL");
});

export class StdioClient implements Client {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #patienceMs: number;
  readonly #waiting = new Map<string, Waiting>();
  readonly ended: Promise<{ code: number | null; signal: string | null }>;
  /** Told about each line as it comes. */
  onLine: (line: string) => void = () => undefined;
  /** The end of its standard error. */
  said = "";
  #pieces: string[] = [];
  #ids = 0;
  #gone = false;

  private constructor({ dialect, root, state, env: own, args = [], patienceMs = 120_000 }: StdioOptions) {
    this.#patienceMs = patienceMs;
    const env = { ...process.env, POLYFS_STATE_DIR: state, POLYFS_CODE_CACHE: codeCache, ...own };
    this.#child = spawn(process.execPath, [program, "--dialect", dialect, ...args, root], { env });
    living.add(this.#child);
    this.#child.stdin.on("error", () => undefined);
    this.#child.stdout.setEncoding("utf8").on("data", (chunk: string) => this.#take(chunk));
    this.#child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      this.said = (this.said + chunk).slice(-4000);
    });
    this.ended = new Promise(resolve =>
      this.#child.once("close", (code, signal) => {
        living.delete(this.#child);
        this.#gone = true;
        resolve({ code, signal });
        for (const { reject } of this.#waiting.values())
          reject(new NoAnswer("gone", `the server is gone (${signal ?? code}): ${this.said}`));
      }),
    );
  }

  static async start(options: StdioOptions): Promise<StdioClient> {
    const client = new StdioClient(options);
    const named = { ...clientInfo, ...(options.client && { name: options.client }) };
    await client.request("initialize", { protocolVersion: revision, capabilities: {}, clientInfo: named });
    client.raw(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
    return client;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get gone(): boolean {
    return this.#gone;
  }

  request(method: string, params?: unknown): Promise<Message> {
    const id = `r${++this.#ids}`;
    return this.answered(id, () => this.raw(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`));
  }

  /** The answer with this id to what `send` sends. */
  async answered(id: string, send: () => void): Promise<Message> {
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<Message>((resolve, reject) => {
        if (this.#gone) return reject(new NoAnswer("gone", "the server is gone"));
        const late = new NoAnswer("late", `no answer within ${this.#patienceMs} ms`);
        timer = setTimeout(() => reject(late), this.#patienceMs);
        this.#waiting.set(id, { resolve, reject });
        send();
      });
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  raw(bytes: string | Uint8Array): void {
    this.#child.stdin.write(bytes);
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  async close(): Promise<void> {
    this.#child.stdin.end();
    const timer = setTimeout(() => this.kill(), 60_000);
    await this.ended;
    clearTimeout(timer);
  }

  #take(chunk: string): void {
    const [first = "", ...others] = chunk.split("\n");
    this.#pieces.push(first);
    for (const start of others) {
      this.#line(this.#pieces.join(""));
      this.#pieces = [start];
    }
  }

  #line(line: string): void {
    this.onLine(line);
    try {
      const message: Message | null = JSON.parse(line);
      if (message?.method === undefined) this.#waiting.get(String(message?.id))?.resolve(message ?? {});
    } catch {
      // Listeners to the lines see it.
    }
  }
}
