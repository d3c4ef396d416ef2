// Talks to an MCP server line by line, for tests that care about the wire itself. `start` runs the program that
// users run; `startProgram` any bundled one; a `Wire` takes any pair of streams.
//
//   await using wire = await start({ dialect: "fs", roots: [tree] });
//   await wire.initialize();
//   expect(await wire.call("read", { path: "a.txt" })).toMatchObject({ content: [{ text: "…" }] });
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { build } from "esbuild";

const root = join(import.meta.dirname, "../..");

export interface Message {
  readonly jsonrpc: "2.0";
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface StartOptions {
  readonly dialect?: string;
  /** Directories to serve. */
  readonly roots?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The user and group that it runs as. Only root can choose. */
  readonly user?: number | undefined;
  /** A command that starts what follows it in other surroundings. */
  readonly through?: readonly string[] | undefined;
}

/** Starts polyfs from dist/, as `npx polyfs` would. */
export async function start({
  dialect,
  roots = [],
  args = [],
  env,
  cwd,
  user,
  through,
}: StartOptions = {}): Promise<ProcessWire> {
  const named = dialect === undefined ? [] : ["--dialect", dialect];
  return startProgram(join(root, "dist/polyfs.cjs"), {
    args: [...named, ...args, ...roots],
    env,
    cwd,
    user,
    through,
  });
}

export function startProgram(
  file: string,
  {
    args = [],
    env,
    cwd,
    user,
    through = [],
  }: Pick<StartOptions, "args" | "env" | "cwd" | "user" | "through"> = {},
): ProcessWire {
  const as = user === undefined ? {} : { uid: user, gid: user };
  const [command = "", ...line] = [...through, process.execPath, file, ...args];
  return new ProcessWire(spawn(command, line, { cwd, env: { ...process.env, ...env }, ...as }));
}

/** Bundles a test's own program, and returns its path. */
export async function bundle(entry: string): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "polyfs-program-"));
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  const outfile = join(directory, `${basename(entry, ".ts")}.mjs`);
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    banner: { js: "const require=process.getBuiltinModule;" },
    external: ["@vscode/ripgrep"],
    logLevel: "error",
  });
  return outfile;
}

type Waiting = {
  matches(message: Message): boolean;
  resolve(message: Message): void;
  reject(error: Error): void;
};

export class Wire implements AsyncDisposable {
  /** Everything that came, in order. */
  readonly received: Message[] = [];
  /** Lines that are no JSON objects: protocol errors of the server. */
  readonly garbage: string[] = [];
  readonly input: Writable;
  readonly output: Readable;
  /** What came and was not asked for by `request` or `next` yet. */
  #unread: Message[] = [];
  #waiting: Waiting[] = [];
  #ids = 0;
  #ended = false;
  #rest: string[] = [];

  constructor(input: Writable, output: Readable) {
    this.input = input;
    this.output = output;
    input.on("error", () => {});
    output.setEncoding("utf8");
    output.on("data", (chunk: string) => this.#take(chunk));
    output.on("close", () => this.#end());
    output.on("end", () => this.#end());
  }

  /** Sends a request and resolves to its whole answer, be it a result or an error. */
  request(method: string, params?: unknown, id: string | number = ++this.#ids): Promise<Message> {
    const answer = this.next(message => message.method === undefined && message.id === id);
    this.send({ jsonrpc: "2.0", id, method, params });
    return answer;
  }

  /** Calls a tool and resolves to its result; a protocol error rejects. */
  async call(name: string, args: unknown = {}, meta?: unknown): Promise<Record<string, unknown>> {
    const { result, error } = await this.request("tools/call", { name, arguments: args, _meta: meta });
    if (result === undefined) throw Object.assign(new Error(error?.message), error);
    return result;
  }

  /** The legacy handshake. */
  async initialize(protocolVersion = "2025-11-25", capabilities: unknown = {}): Promise<Message> {
    const clientInfo = { name: "wire", version: "1" };
    const answer = await this.request("initialize", { protocolVersion, capabilities, clientInfo });
    this.notify("notifications/initialized");
    return answer;
  }

  notify(method: string, params?: unknown): void {
    this.send({ jsonrpc: "2.0", method, params });
  }

  send(message: unknown): void {
    this.raw(`${JSON.stringify(message)}\n`);
  }

  /** Sends bytes as they are: the line end is yours. */
  raw(bytes: string | Uint8Array): void {
    this.input.write(bytes);
  }

  /** The next message that matches and has not been taken; rejects if the server exits without it. */
  next(matches: (message: Message) => boolean = () => true): Promise<Message> {
    const at = this.#unread.findIndex(matches);
    const [found] = at < 0 ? [] : this.#unread.splice(at, 1);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve, reject) => {
      if (this.#ended) reject(new Error("the server has left"));
      else this.#waiting.push({ matches, resolve, reject });
    });
  }

  /** Settles when the server has closed its output. */
  left(): Promise<void> {
    return new Promise(resolve => {
      if (this.#ended) resolve();
      else this.output.once("close", resolve).once("end", resolve);
    });
  }

  /** Ends the input, and waits until the server has said everything and left. */
  async close(): Promise<void> {
    this.input.end();
    await this.left();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #take(chunk: string): void {
    const [first = "", ...others] = chunk.split("\n");
    this.#rest.push(first);
    for (const start of others) {
      this.#takeLine(this.#rest.join(""));
      this.#rest = [start];
    }
  }

  #takeLine(line: string): void {
    try {
      const value: unknown = JSON.parse(line);
      for (const message of (Array.isArray(value) ? value : [value]) as Message[]) this.#deliver(message);
    } catch {
      this.garbage.push(line);
    }
  }

  #deliver(message: Message): void {
    this.received.push(message);
    const at = this.#waiting.findIndex(waiting => waiting.matches(message));
    const [waiting] = at < 0 ? [] : this.#waiting.splice(at, 1);
    if (waiting === undefined) this.#unread.push(message);
    else waiting.resolve(message);
  }

  #end(): void {
    this.#ended = true;
    for (const { reject } of this.#waiting.splice(0)) reject(new Error("the server has left"));
  }
}

export class ProcessWire extends Wire {
  readonly child: ChildProcess;
  /** What it has said on standard error so far. */
  stderr = "";
  readonly #exit: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;

  constructor(child: ReturnType<typeof spawn>) {
    if (child.stdin === null || child.stdout === null)
      throw new Error("the program must be started with pipes");
    super(child.stdin, child.stdout);
    this.child = child;
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      this.stderr += chunk;
    });
    this.#exit = new Promise(resolve => child.once("close", (code, signal) => resolve({ code, signal })));
  }

  /** How it ends, without asking it to. */
  exited(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    return this.#exit;
  }

  /** Ends the input and waits for the process. */
  override async close(): Promise<void> {
    this.input.end();
    await this.#exit;
  }

  /** Settles when standard error has shown the text; rejects when the process ends without it. */
  async said(text: string): Promise<void> {
    const over = this.#exit.then(() => {
      if (!this.stderr.includes(text)) throw new Error(`ended without saying ${text}: ${this.stderr}`);
    });
    while (!this.stderr.includes(text)) {
      await Promise.race([
        over,
        new Promise(resolve => this.child.stderr?.once("data", () => setImmediate(resolve))),
      ]);
    }
  }
}
