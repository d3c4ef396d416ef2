// A server of this very program, started as clients start it and spoken to over its standard streams.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import type { Fixture } from "./fixture.ts";

const answerMs = 60_000;

interface Answer {
  readonly id?: number;
  readonly result?: { readonly content?: readonly { readonly text?: string }[]; readonly isError?: boolean };
  readonly error?: { readonly message: string };
}

export class ServedProgram {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  readonly #ended: Promise<unknown>;
  #rest = "";
  #last = 0;

  private constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    this.#ended = once(child, "close");
    child.stdin.on("error", () => {}); // it was killed
    child.stderr.resume();
    child.stdout.setEncoding("utf8").on("data", (text: string) => this.#take(text));
    child.once("close", () => {
      for (const answered of this.#waiting.values()) answered({ error: { message: "the server is gone" } });
    });
  }

  /** Serves the fixture's root. `more`: further options. */
  static async start(
    program: string,
    fixture: Fixture,
    more: readonly string[] = [],
  ): Promise<ServedProgram> {
    const env = { ...process.env, ...fixture.environment };
    const server = new ServedProgram(
      spawn(process.execPath, [program, ...more, fixture.root], { env, windowsHide: true }),
    );
    await server.request("initialize", {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "selftest", version: "1" },
    });
    return server;
  }

  request(method: string, params: object): Promise<Answer> {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`no answer to ${method} within ${answerMs} ms`)),
        answerMs,
      );
      this.#waiting.set(id, answer => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        resolve(answer);
      });
      this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  }

  /** What a tool answers, as text; a refusal begins with its code. */
  async call(name: string, args: object): Promise<string> {
    const { result, error } = await this.request("tools/call", { name, arguments: args });
    return error?.message ?? result?.content?.map(({ text }) => text ?? "").join("\n") ?? "";
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  async end(): Promise<void> {
    this.#child.stdin.end();
    await this.#ended;
  }

  #take(text: string): void {
    this.#rest += text;
    for (let at = this.#rest.indexOf("\n"); at >= 0; at = this.#rest.indexOf("\n")) {
      const message: Answer = JSON.parse(this.#rest.slice(0, at));
      this.#rest = this.#rest.slice(at + 1);
      if (message.id !== undefined) this.#waiting.get(message.id)?.(message);
    }
  }
}
