// A server that gets malformed input. Every output is checked; every request must be answered once.
import { type Message, NoAnswer } from "../client/client.ts";
import { residentMb } from "../client/process-facts.ts";
import { StdioClient } from "../client/stdio-client.ts";
import { answerTo, messageFault, resultFault, type Tool } from "./judge.ts";

/** More than any of this may need: the limits of single answers and lines are far below. */
const mostMb = 900;

/** More than the longest limit of a single call: two minutes, for a search of `agent-tools`. */
const patienceMs = 150_000;

export class FuzzedServer {
  readonly client: StdioClient;
  readonly dialect: string;
  tools: readonly Tool[] = [];
  mostMb = 0;
  /** Answers that are owed: how many, by the id as JSON. */
  readonly #owed = new Map<string, number>();
  readonly #called = new Map<string, Tool>();
  readonly #faults: string[] = [];
  #pings = 0;

  private constructor(dialect: string, client: StdioClient) {
    this.dialect = dialect;
    this.client = client;
    client.onLine = line => this.#judge(line);
  }

  static async start(dialect: string, root: string, state: string): Promise<FuzzedServer> {
    const args = dialect === "polyfs" ? [] : ["--no-run"];
    const client = await StdioClient.start({ dialect, root, state, args, patienceMs: 60_000 });
    const { result } = await client.request("tools/list");
    const server = new FuzzedServer(dialect, client);
    server.tools = (result?.tools ?? []) as readonly Tool[];
    if (dialect === "file-editor")
      await client.request("tools/call", { name: "set_workspace", arguments: { path: root } });
    server.#faults.length = 0;
    return server;
  }

  /** Sends a line, whatever it is. */
  send(line: string, tool?: Tool): void {
    const flat = line.replaceAll("\n", " ");
    if (flat.trim() === "") return;
    const id = answerTo(new TextDecoder("utf-8", { ignoreBOM: false }).decode(Buffer.from(flat)).trimEnd());
    if (id !== undefined) this.#owed.set(id, (this.#owed.get(id) ?? 0) + 1);
    if (id !== undefined && tool !== undefined) this.#called.set(id, tool);
    this.client.raw(`${flat}\n`);
  }

  sendBytes(bytes: Buffer): void {
    const line = Buffer.from(bytes.map(byte => (byte === 10 ? 32 : byte)));
    if (
      line
        .toString("latin1")
        .replace(/^\xef\xbb\xbf/, "")
        .trim() === ""
    )
      return;
    this.#owed.set("null", (this.#owed.get("null") ?? 0) + 1);
    this.client.raw(Buffer.concat([line, Buffer.from("\n")]));
  }

  /** Waits for all pending answers and a ping. Throws what was wrong since the last time. */
  async settle(): Promise<void> {
    const id = `ping-${++this.#pings}`;
    const ping = JSON.stringify({ jsonrpc: "2.0", id, method: "ping" });
    this.#owed.set(JSON.stringify(id), 1);
    await this.client.answered(id, () => this.client.raw(`${ping}\n`));
    const until = Date.now() + patienceMs;
    for (let round = 0; this.#owed.size > 0 && Date.now() < until; round++) {
      if (this.client.gone) throw new NoAnswer("gone", `the server is gone: ${this.client.said}`);
      await new Promise(resolve => setTimeout(resolve, round < 20 ? 5 : 100));
    }
    const unanswered = [...this.#owed.keys()].slice(0, 3).map(key => key.slice(0, 80));
    if (unanswered.length > 0) this.#faults.push(`no answer to ${unanswered}`);
    this.#owed.clear();
    this.#called.clear();
    this.mostMb = Math.max(this.mostMb, residentMb(this.client.pid) ?? 0);
    if (this.mostMb > mostMb) this.#faults.push(`it holds ${Math.round(this.mostMb)} MB`);
    const faults = this.#faults.splice(0);
    if (faults.length > 0) throw new Error(`${faults.slice(0, 5).join("; ")}`);
  }

  #judge(line: string): void {
    let message: Message & { readonly id?: unknown };
    try {
      message = JSON.parse(line);
    } catch {
      this.#faults.push(`a line that is not JSON: ${line.slice(0, 100)}`);
      return;
    }
    const fault = messageFault(message);
    if (fault !== undefined) this.#faults.push(`${fault}: ${line.slice(0, 200)}`);
    if (message.method !== undefined) return;
    const key = JSON.stringify(message.id);
    const owed = this.#owed.get(key) ?? 0;
    if (owed === 0) this.#faults.push(`an answer without a request: ${line.slice(0, 200)}`);
    else if (owed === 1) this.#owed.delete(key);
    else this.#owed.set(key, owed - 1);
    const tool = this.#called.get(key);
    const wrong = tool && message.result && resultFault(message.result, tool);
    if (wrong !== undefined) this.#faults.push(`${tool?.name}: ${wrong}: ${line.slice(0, 200)}`);
  }
}
