// The built program as a client uses it: a process with messages on standard input and output.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";

export class Server implements Disposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  #pieces: Buffer[] = [];
  #answered: ((line: Buffer) => void) | undefined;
  #ids = 0;

  private constructor(program: string, args: readonly string[]) {
    this.#child = spawn(process.execPath, [program, ...args], { stdio: ["pipe", "pipe", "inherit"] });
    this.#child.stdout.on("data", (piece: Buffer) => {
      this.#pieces.push(piece);
      if (piece.at(-1) !== 10) return;
      const line = Buffer.concat(this.#pieces);
      this.#pieces = [];
      this.#answered?.(line);
    });
  }

  static async start(program: string, args: readonly string[]): Promise<Server> {
    const server = new Server(program, args);
    const clientInfo = { name: "bench", version: "1" };
    await server.#ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    server.#send({ jsonrpc: "2.0", method: "notifications/initialized" });
    return server;
  }

  /** A tool's answer, as the line that it came in: reading it is the client's work. */
  call(name: string, args: object): Promise<Buffer> {
    return this.#ask("tools/call", { name, arguments: args });
  }

  /** One at a time: an answer ends with its line. */
  #ask(method: string, params: object): Promise<Buffer> {
    return new Promise(resolve => {
      this.#answered = resolve;
      this.#send({ jsonrpc: "2.0", id: ++this.#ids, method, params });
    });
  }

  #send(message: object): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  [Symbol.dispose](): void {
    this.#child.kill();
  }
}

/** The text in the answer of a tool. */
export function textOf(line: Buffer): string {
  const { result, error } = JSON.parse(String(line)) as {
    readonly result?: { readonly isError?: boolean; readonly content?: readonly { readonly text: string }[] };
    readonly error?: { readonly message: string };
  };
  const text = result?.content?.[0]?.text;
  if (text === undefined || result?.isError) throw new Error(error?.message ?? text ?? "no answer");
  return text;
}
