// A minimal client over HTTP, in either era of the protocol.
import { Agent, request } from "node:http";

const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly session: string;
}

class IdleConnectionClosed extends Error {}

export class HttpClient {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 400 });
  readonly #modern: boolean;
  #ids = 0;

  constructor(url: string, token: string | undefined, modern: boolean) {
    this.#url = url;
    this.#modern = modern;
    this.#headers = {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
  }

  async open(): Promise<void> {
    if (this.#modern) {
      this.#headers["mcp-protocol-version"] = "2026-07-28";
      return;
    }
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "bench", version: "1" },
    };
    const { session } = await this.#post("initialize", params);
    this.#headers["mcp-session-id"] = session;
    this.#headers["mcp-protocol-version"] = "2025-11-25";
  }

  /** Resolves to what went wrong, or undefined. */
  async call(name: string, args: unknown): Promise<string | undefined> {
    const { status, body } = await this.#post("tools/call", { name, arguments: args });
    const data = /^data: (.*)$/m.exec(body)?.[1] ?? body;
    if (status !== 200) return `${status} ${body.slice(0, 200)}`;
    const { result, error } = JSON.parse(data) as { result?: { isError?: boolean }; error?: unknown };
    return error !== undefined || result?.isError === true ? data.slice(0, 300) : undefined;
  }

  close(): void {
    this.#agent.destroy();
  }

  /** A server may close an idle connection at the moment when the next request is sent: that one is sent again. */
  async #post(method: string, params: Record<string, unknown>): Promise<Answer> {
    for (;;) {
      try {
        return await this.#postOnce(method, params);
      } catch (error) {
        if (!(error instanceof IdleConnectionClosed)) throw error;
      }
    }
  }

  #postOnce(method: string, params: Record<string, unknown>): Promise<Answer> {
    const modern = this.#modern
      ? { "mcp-method": method, ...(typeof params.name === "string" ? { "mcp-name": params.name } : {}) }
      : {};
    const sent = this.#modern ? { ...params, _meta: envelope } : params;
    return new Promise((resolve, reject) => {
      const headers = { ...this.#headers, ...modern };
      const outgoing = request(
        this.#url,
        { method: "POST", headers, agent: this.#agent, timeout: 120_000 },
        response => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("error", reject);
          response.on("end", () =>
            resolve({
              status: response.statusCode ?? 0,
              body: Buffer.concat(chunks).toString(),
              session: String(response.headers["mcp-session-id"]),
            }),
          );
        },
      );
      outgoing
        .on("error", (error: NodeJS.ErrnoException) =>
          reject(outgoing.reusedSocket && error.code === "ECONNRESET" ? new IdleConnectionClosed() : error),
        )
        .on("timeout", () => outgoing.destroy(new Error("no answer in two minutes")));
      outgoing.end(JSON.stringify({ jsonrpc: "2.0", id: ++this.#ids, method, params: sent }));
    });
  }
}
