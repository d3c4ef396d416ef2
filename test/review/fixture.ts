// A project, agents that work in it through the built program, and the review page as a browser's HTTP sees it.
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { onTestFinished } from "vitest";
import type { Events } from "../../src/review/api.ts";

export const program = join(import.meta.dirname, "../../dist/polyfs.cjs");

/** Starts the program. It ends with this process, whatever happens. */
export function startLeashed(
  args: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): ChildProcessWithoutNullStreams {
  const leash = pathToFileURL(join(import.meta.dirname, "leash.mjs")).href;
  return spawn(process.execPath, ["--import", leash, program, ...args], options);
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many shapes
  readonly json: any;
}

export interface Asking {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** One request, with exactly these headers. */
export async function ask(url: string, { method = "GET", headers = {}, body }: Asking = {}): Promise<Answer> {
  return await new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method, headers, agent: false }, answer => {
      const chunks: Buffer[] = [];
      answer.on("data", chunk => chunks.push(chunk));
      answer.on("error", reject);
      answer.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        const isJson = answer.headers["content-type"]?.startsWith("application/json");
        const status = answer.statusCode ?? 0;
        resolve({ status, headers: answer.headers, text, json: isJson ? JSON.parse(text) : undefined });
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

export class Fixture {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-review-")));
  readonly root = join(this.base, "project");
  readonly state = join(this.base, "state");
  readonly #children: ChildProcess[] = [];
  readonly #clients: Client[] = [];

  /** `cleanUp` registers what is done at the end: of the test, or of all tests of a file. */
  constructor(cleanUp: (action: () => Promise<void>) => void = onTestFinished) {
    mkdirSync(this.root);
    cleanUp(async () => {
      await Promise.allSettled(this.#clients.map(async client => await client.close()));
      for (const child of this.#children) {
        const ended = new Promise(resolve => child.once("exit", resolve));
        if (child.exitCode === null && child.signalCode === null && child.kill("SIGTERM")) await ended;
      }
      rmSync(this.base, { recursive: true, force: true });
    });
  }

  get environment(): Record<string, string> {
    return {
      ...(process.env as Record<string, string>),
      HOME: this.base,
      XDG_CONFIG_HOME: join(this.base, "config"),
      POLYFS_STATE_DIR: this.state,
    };
  }

  write(name: string, content: string | Buffer): string {
    const path = join(this.root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  }

  read(name: string): string {
    return readFileSync(join(this.root, name), "utf8");
  }

  /** An agent with a server of its own. */
  async agent(name = "tester", args: readonly string[] = [this.root], capabilities = {}): Promise<Agent> {
    const client = new Client({ name, version: "1" }, { capabilities });
    this.#clients.push(client);
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [program, ...args],
        env: this.environment,
        stderr: "ignore",
      }),
    );
    return new Agent(client);
  }

  /** Starts a program that prints its address on its standard output, or in its log. */
  async start(args: readonly string[], address: RegExp, cwd = this.root): Promise<string> {
    const child = startLeashed(args, { cwd, env: this.environment });
    this.#children.push(child);
    let told = "";
    return await new Promise((resolve, reject) => {
      const take = (chunk: Buffer) => {
        told += chunk;
        const found = address.exec(told)?.[0];
        if (found !== undefined) resolve(found);
      };
      child.stdout.on("data", take);
      child.stderr.on("data", take);
      child.once("exit", () => reject(new Error(`it ended: ${told}`)));
    });
  }

  /** `polyfs review`, signed in. */
  async page(...args: readonly string[]): Promise<Page> {
    const url = await this.start(["review", "--no-open", ...args], /http:\S+token=\S+/);
    return await Page.enter(url);
  }

  /** Ends what was started, as Ctrl-C does. */
  async end(): Promise<void> {
    for (const child of this.#children.splice(0)) {
      const ended = new Promise(resolve => child.once("exit", resolve));
      child.kill("SIGINT");
      await ended;
    }
  }
}

export class Agent {
  readonly client: Client;

  constructor(client: Client) {
    this.client = client;
  }

  async call(name: string, params: Record<string, unknown>): Promise<{ isError: boolean; text: string }> {
    const { isError, content } = await this.client.callTool({ name, arguments: params });
    const text = (content as { text: string }[]).map(one => one.text).join("\n");
    return { isError: isError === true, text };
  }

  /** Makes a change, and returns its id. */
  async change(name: string, params: Record<string, unknown>): Promise<string> {
    const { isError, text } = await this.call(name, params);
    const [, id] = /change ([0-9a-z]{8,})/.exec(text) ?? [];
    if (isError || id === undefined) throw new Error(text);
    return id;
  }
}

type EventOf<K extends keyof Events> = { readonly id: string; readonly data: Events[K] };

export class Page {
  /** `http://127.0.0.1:PORT/review/` */
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(base: string, headers: Readonly<Record<string, string>>) {
    this.base = base;
    this.headers = headers;
  }

  static async enter(url: string): Promise<Page> {
    const entered = await ask(url);
    const cookie = entered.headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
    return new Page(url.replace(/\?.*/, ""), { cookie });
  }

  async get(path: string): Promise<Answer> {
    return await ask(this.base + path, { headers: this.headers });
  }

  async post(path: string, body: unknown): Promise<Answer> {
    const headers = { ...this.headers, "content-type": "application/json", "x-polyfs-review": "1" };
    return await ask(this.base + path, { method: "POST", headers, body: JSON.stringify(body) });
  }

  /** Connects to the events; they are kept until the test asks for them. */
  async events(since?: string): Promise<Stream> {
    const headers = { ...this.headers, ...(since !== undefined && { "last-event-id": since }) };
    return await new Promise((resolve, reject) => {
      const sent = httpRequest(`${this.base}api/events`, { headers, agent: false }, answer => {
        if (answer.statusCode === 200) resolve(new Stream(answer, () => sent.destroy()));
        else reject(new Error(`status ${answer.statusCode}`));
      });
      sent.on("error", reject);
      sent.end();
      onTestFinished(() => void sent.destroy());
    });
  }
}

export class Stream {
  readonly close: () => void;
  /** What no one has asked for yet. */
  readonly kept: { name: string; id: string; data: unknown }[] = [];
  #waiting: (() => void)[] = [];
  #text = "";

  constructor(answer: IncomingMessage, close: () => void) {
    this.close = close;
    answer.on("error", () => {});
    answer.on("data", (chunk: Buffer) => {
      this.#text += chunk;
      const blocks = this.#text.split("\n\n");
      this.#text = blocks.pop() ?? "";
      for (const block of blocks) {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
        const [id, name, data] = [field("id"), field("event"), field("data")];
        if (id !== undefined && name !== undefined && data !== undefined)
          this.kept.push({ id, name, data: JSON.parse(data) });
      }
      for (const wake of this.#waiting.splice(0)) wake();
    });
  }

  /** The next event of this kind that fits; earlier ones of other kinds stay. */
  async next<K extends keyof Events>(
    name: K,
    fits: (data: Events[K]) => boolean = () => true,
  ): Promise<EventOf<K>> {
    for (;;) {
      const at = this.kept.findIndex(one => one.name === name && fits(one.data as Events[K]));
      if (at >= 0) return this.kept.splice(at, 1)[0] as EventOf<K> & { name: K };
      await new Promise<void>(resolve => this.#waiting.push(resolve));
    }
  }
}
