// A project with agents that work in it, and the review page of it in a real browser.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { type Answer, type Client, call } from "../client/client.ts";
import { StdioClient } from "../client/stdio-client.ts";
import { codeCache, program } from "../places.ts";

const patienceMs = 60_000;

const living = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of living) child.kill("SIGKILL");
});

export class Fixture implements AsyncDisposable {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-review-")));
  readonly root = join(this.base, "project");
  readonly state = join(this.base, "state");
  /** What a page must not do: errors, refused scripts, requests to other places. */
  readonly offences: string[] = [];
  readonly #browser: Browser;
  readonly #contexts: BrowserContext[] = [];
  readonly #clients: Client[] = [];
  readonly #children: ChildProcess[] = [];

  constructor(browser: Browser, files: Readonly<Record<string, string>> = {}) {
    this.#browser = browser;
    mkdirSync(this.root);
    for (const [name, content] of Object.entries(files)) this.write(name, content);
  }

  write(name: string, content: string): void {
    mkdirSync(dirname(join(this.root, name)), { recursive: true });
    writeFileSync(join(this.root, name), content);
  }

  read(name: string): string {
    return readFileSync(join(this.root, name), "utf8");
  }

  /** An agent with a server of its own over standard input and output. */
  async agent(client: string, args: readonly string[] = []): Promise<Agent> {
    const { root, state } = this;
    const started = await StdioClient.start({ dialect: "polyfs", root, state, client, args });
    this.#clients.push(started);
    return new Agent(started, started.pid);
  }

  /** An agent over a connection that is there already. */
  connected(client: Client): Agent {
    this.#clients.push(client);
    return new Agent(client);
  }

  /** Starts `polyfs review`; resolves to its address, which works once. */
  async serve(args: readonly string[] = [], node: readonly string[] = []): Promise<Served> {
    const env = { ...process.env, POLYFS_STATE_DIR: this.state, POLYFS_CODE_CACHE: codeCache };
    const child = spawn(process.execPath, [...node, program, "review", "--no-open", ...args, this.root], {
      env,
    });
    living.add(child);
    this.#children.push(child);
    let told = "";
    const url = await new Promise<string>((resolve, reject) => {
      const take = (chunk: Buffer) => {
        told += chunk;
        const [found] = /http:\S+token=\S+/.exec(told) ?? [];
        if (found !== undefined) resolve(found);
      };
      child.stdout.on("data", take);
      child.stderr.on("data", take);
      child.once("close", () => {
        living.delete(child);
        reject(new Error(`the page's server ended: ${told}`));
      });
    });
    return { url, pid: child.pid ?? 0, stop: () => stopped(child) };
  }

  /** The page in a browser of its own. */
  async open(url: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.#browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    this.#contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(patienceMs);
    const own = new URL(url).origin;
    page.on("pageerror", error => this.offences.push(`error: ${error.message}`));
    page.on("dialog", dialog => {
      this.offences.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("console", message => {
      if (/Content Security Policy|Refused to/.test(message.text())) this.offences.push(message.text());
    });
    page.on("request", request => {
      if (new URL(request.url()).origin !== own) this.offences.push(`request to ${request.url()}`);
    });
    await page.goto(url);
    await page.locator("main").waitFor();
    return page;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const context of this.#contexts) await context.close();
    for (const client of this.#clients) await client.close();
    for (const child of this.#children) await stopped(child);
    rmSync(this.base, { recursive: true, force: true });
  }
}

export interface Served {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Calls that have to succeed. */
export class Agent {
  readonly #client: Client;
  /** The process of its own server, where it has one. */
  readonly pid: number;

  constructor(client: Client, pid = 0) {
    this.#client = client;
    this.pid = pid;
  }

  /** Whatever the answer is. */
  async try(tool: string, parameters: object): Promise<Answer> {
    return await call(this.#client, tool, parameters);
  }

  async do(tool: string, parameters: object): Promise<string> {
    const { text, failed } = await this.try(tool, parameters);
    if (failed) throw new Error(`${tool} failed: ${text}`);
    return text;
  }
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>(resolve => child.once("close", () => resolve()));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 10_000);
  await ended;
  clearTimeout(timer);
}

/** Throws unless they are the same. */
export function same(found: unknown, wanted: unknown, what: string): void {
  if (found !== wanted)
    throw new Error(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`);
}

/** Waits for it. The browser's own waiting evaluates text in the page, which the page's policy refuses. */
export async function until(isSo: () => Promise<boolean>, what: string): Promise<void> {
  const end = Date.now() + patienceMs;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`${what}: not within ${patienceMs} ms`);
    await new Promise(resolve => setTimeout(resolve, 20));
  }
}

/** Waits until what is on the disk is what it has to be. */
export async function becomes(found: () => unknown, wanted: unknown, what: string): Promise<void> {
  const end = Date.now() + patienceMs;
  while (found() !== wanted && Date.now() < end) await new Promise(resolve => setTimeout(resolve, 20));
  same(found(), wanted, what);
}
