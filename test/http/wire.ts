// Requests over HTTP as they are on the wire, for tests that care about statuses and headers.
import { Agent, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { envelope } from "../mcp/in-process.ts";

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The JSON-RPC message: the body, or the last event of a stream. */
  readonly message: Message;
}

export interface Message {
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal;
}

const agent = new Agent({ keepAlive: true });

export function send(url: string, { method = "GET", headers = {}, body, signal }: Sent = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers, signal, agent }, response => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        const { statusCode: status = 0, headers } = response;
        resolve({ status, headers, body: text, message: messageIn(text) });
      });
    });
    request.on("error", reject);
    request.end(body);
  });
}

function messageIn(text: string): Message {
  const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => data);
  try {
    return JSON.parse(events.at(-1) ?? text);
  } catch {
    return {};
  }
}

const both = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** A request of 2026-07-28, which is stateless. */
export function modern(
  url: string,
  method: string,
  params: Record<string, unknown> = {},
  headers: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<Reply> {
  const meta = params._meta as Record<string, unknown> | undefined;
  const named: Record<string, string> = typeof params.name === "string" ? { "mcp-name": params.name } : {};
  return send(url, {
    method: "POST",
    headers: { ...both, "mcp-protocol-version": "2026-07-28", "mcp-method": method, ...named, ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: envelope(meta) } }),
    signal,
  });
}

/** A message of a 2025 client. */
export function legacy(
  url: string,
  message: Record<string, unknown>,
  headers: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<Reply> {
  return send(url, {
    method: "POST",
    headers: { ...both, ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    signal,
  });
}

/** Opens a session, and resolves to the headers that belong to it. */
export async function initialize(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  protocolVersion = "2025-11-25",
): Promise<Record<string, string>> {
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: "wire", version: "1" } };
  const reply = await legacy(url, { id: 0, method: "initialize", params }, headers);
  const session = reply.headers["mcp-session-id"];
  if (typeof session !== "string") throw new Error(`no session: ${reply.status} ${reply.body}`);
  const own = { ...headers, "mcp-session-id": session, "mcp-protocol-version": protocolVersion };
  await legacy(url, { method: "notifications/initialized" }, own);
  return own;
}
