// A client that adds as little as it can to what it measures: a line out, lines in, and the moment at which an
// answer was there, taken before it is parsed.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import type { Call } from "./jobs.ts";

export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The longest time that an answer may take. */
  readonly patienceMs?: number;
}

export interface Answer {
  /** All text of the answer; for an error its message. */
  readonly text: string;
  readonly failed: boolean;
  /** Of the whole line on the wire. */
  readonly bytes: number;
  readonly arrived: number;
}

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

export class Client {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #patienceMs: number;
  readonly #waiting = new Map<number, Waiting>();
  #pieces: Buffer[] = [];
  #said = "";
  #last = 0;
  #ended = false;

  constructor({ command, args, env, cwd, patienceMs = 20_000 }: Command) {
    this.#patienceMs = patienceMs;
    this.#child = spawn(command, args, { env: { ...process.env, ...env }, cwd, stdio: "pipe" });
    this.#child.stdout.on("data", (chunk: Buffer) => this.#take(chunk));
    this.#child.stderr.on("data", (chunk: Buffer) => {
      this.#said = (this.#said + chunk).slice(-2000);
    });
    this.#child.stdin.on("error", () => {});
    this.#child.on("error", error => this.#end(error));
    this.#child.on("close", code =>
      this.#end(new Error(`the server ended with ${code}: ${this.#said.trim()}`)),
    );
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Does the handshake and asks for the tools; the server is up when they arrive. */
  async start(): Promise<Answer> {
    const clientInfo = { name: "bench", version: "1" };
    await this.request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    this.#write({ jsonrpc: "2.0", method: "notifications/initialized" });
    return await this.request("tools/list", {});
  }

  /** Does a call and those that follow from its answer. */
  async call({ tool, arguments: args, next }: Call): Promise<Answer> {
    const answer = await this.request("tools/call", { name: tool, arguments: args });
    const following = answer.failed ? undefined : next?.(answer.text);
    if (following === undefined) return answer;
    const last = await this.call(following);
    return { ...last, text: answer.text + last.text, bytes: answer.bytes + last.bytes };
  }

  async request(method: string, params: unknown): Promise<Answer> {
    const id = ++this.#last;
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<Answer>((resolve, reject) => {
        if (this.#ended) return reject(new Error("the server has ended"));
        timer = setTimeout(
          () => reject(new Error(`no answer within ${this.#patienceMs / 1000} s`)),
          this.#patienceMs,
        );
        this.#waiting.set(id, { resolve, reject });
        this.#write({ jsonrpc: "2.0", id, method, params });
      });
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  /** What the process holds now, and the most that it has held, in MB. Only where there is /proc. */
  memory(): { readonly now: number; readonly most: number } | undefined {
    try {
      const status = readFileSync(`/proc/${this.#child.pid}/status`, "utf8");
      const megabytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
      return { now: megabytes("VmRSS"), most: megabytes("VmHWM") };
    } catch {
      return undefined;
    }
  }

  /** Resets the peak memory that the kernel reports for the process. */
  forgetMostMemory(): void {
    try {
      writeFileSync(`/proc/${this.#child.pid}/clear_refs`, "5");
    } catch {
      // Only where there is /proc.
    }
  }

  /** Closes the input; a server that keeps running is killed. */
  async close(): Promise<void> {
    if (this.#ended) return;
    const gone = new Promise<void>(resolve => this.#child.once("close", () => resolve()));
    this.#child.stdin.end();
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), 2000);
    await gone;
    clearTimeout(timer);
  }

  /** At once, for an aborted run. */
  kill(): void {
    this.#child.kill("SIGKILL");
  }

  #write(message: unknown): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #take(chunk: Buffer): void {
    const arrived = performance.now();
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      this.#pieces.push(chunk.subarray(from, at));
      const line = Buffer.concat(this.#pieces);
      this.#pieces = [];
      from = at + 1;
      this.#message(line, arrived);
    }
    if (from < chunk.length) this.#pieces.push(chunk.subarray(from));
  }

  #message(line: Buffer, arrived: number): void {
    let message: Message;
    try {
      message = JSON.parse(line.toString());
    } catch {
      return; // some servers print on standard output
    }
    const { id, method, result, error } = message;
    if (method !== undefined) {
      const refusal = { code: -32601, message: "not here" };
      if (id !== undefined) this.#write({ jsonrpc: "2.0", id, error: refusal });
      return;
    }
    const failed = error !== undefined || result?.isError === true;
    const text = error?.message ?? textOf(result);
    this.#waiting.get(Number(id))?.resolve({ text, failed, bytes: line.length, arrived });
  }

  #end(error: Error): void {
    this.#ended = true;
    for (const { reject } of this.#waiting.values()) reject(error);
  }
}

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly error?: { readonly message: string };
  readonly result?: Result;
}

interface Result {
  readonly isError?: boolean;
  readonly content?: readonly { readonly text?: string; readonly resource?: { readonly text?: string } }[];
  readonly structuredContent?: unknown;
}

/** The text that the model sees; text that is only in structured content counts too. */
function textOf(result: Result | undefined): string {
  const texts = result?.content?.map(({ text, resource }) => text ?? resource?.text ?? "") ?? [];
  const structured = result?.structuredContent === undefined ? "" : JSON.stringify(result.structuredContent);
  const text = texts.join("\n");
  return text.length * 2 < structured.length ? text + structured : text;
}
