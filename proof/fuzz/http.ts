// The same over HTTP: wrong bodies, headers, methods and addresses. Every request gets a reply, none is an internal
// error, and every JSON-RPC reply is valid.

import type { Chance } from "../chance.ts";
import { HttpClient, HttpServer, messageIn } from "../client/http-client.ts";
import { residentMb } from "../client/process-facts.ts";
import type { Trial } from "../suite.ts";
import { messageFault, type Tool } from "./judge.ts";
import { lineOf } from "./lines.ts";
import { oddString } from "./odd.ts";

const mostMb = 900;

const types = [
  "application/json",
  "application/json",
  "application/json",
  "text/plain",
  "application/json; charset=x",
];
const accepts = [
  "application/json, text/event-stream",
  "application/json, text/event-stream",
  "*/*",
  "text/html",
];
const versions = ["2025-11-25", "2025-06-18", "2026-07-28", "1999-01-01", "x"];

export async function http(
  { chance, tally }: Trial,
  dialects: readonly string[],
  root: string,
  state: string,
  text: (name: string) => string,
  rounds: number,
): Promise<void> {
  const server = new HttpServer(root, state, ["--no-run"]);
  try {
    for (const dialect of dialects) {
      const client = await HttpClient.open(server, dialect);
      const { result } = await client.request("tools/list");
      const tools = (result?.tools ?? []) as readonly Tool[];
      for (let i = 0; i < rounds; i++) {
        const { line } = lineOf(chance, tools, `h${i}`, text);
        const body = chance.below(10) === 0 ? chance.bytes(chance.below(200)) : line;
        const headers = { ...headersOf(chance), ...(chance.below(2) === 0 ? client.headers : {}) };
        const path =
          chance.below(12) === 0
            ? `/${encodeURIComponent(oddString(chance).toWellFormed()).slice(0, 200)}`
            : `/mcp/${dialect}`;
        const method = chance.pick(["POST", "POST", "POST", "POST", "PUT", "OPTIONS", "HEAD"]);
        await tally.attempt(
          `http ${dialect} ${method} ${path} ${JSON.stringify(headers)} ${JSON.stringify(String(body).slice(0, 500))}`,
          () => replied(server, path, body, headers, method),
        );
        if (server.gone) throw new Error(`the server is gone: ${server.said}`);
      }
      const alive = await client.request("tools/list");
      if (alive.result === undefined) throw new Error(`${dialect} over HTTP does not answer any more`);
      await client.close();
    }
    await tally.attempt("http a request whose id is null", async () => {
      const client = await HttpClient.open(server, "polyfs");
      const body = JSON.stringify({ jsonrpc: "2.0", id: null, method: "ping" });
      const reply = await server.post("/mcp/polyfs", body, client.headers);
      const message = messageIn(reply.body);
      if (message?.id !== null || message.error?.code !== -32600)
        throw new Error(`answered with ${reply.status} ${reply.body.slice(0, 200)}`);
      await client.close();
    });
  } finally {
    await server.close();
  }
}

function headersOf(chance: Chance): Record<string, string> {
  return {
    "content-type": chance.pick(types),
    accept: chance.pick(accepts),
    ...(chance.below(2) === 0 && { "mcp-protocol-version": chance.pick(versions) }),
    ...(chance.below(4) === 0 && {
      "mcp-session-id": chance.pick(["x", "00000000-0000-0000-0000-000000000000"]),
    }),
    ...(chance.below(4) === 0 && { "mcp-method": chance.pick(["tools/call", "ping", "x"]) }),
    ...(chance.below(8) === 0 && { origin: "https://elsewhere.example" }),
  };
}

async function replied(
  server: HttpServer,
  path: string,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>>,
  method: string,
): Promise<void> {
  const reply = await server.post(path, body, headers, { method });
  if (reply.status >= 500 && reply.status !== 503)
    throw new Error(`status ${reply.status} ${reply.body.slice(0, 300)}`);
  const type = String(reply.headers["content-type"] ?? "");
  if (method !== "HEAD" && reply.body !== "" && /json|event-stream/.test(type) && path.startsWith("/mcp")) {
    const message = messageIn(reply.body);
    const fault = Array.isArray(message)
      ? message.map(messageFault).find(one => one !== undefined)
      : messageFault(message);
    if (fault !== undefined) throw new Error(`${fault}: ${reply.status} ${reply.body.slice(0, 300)}`);
  }
  const held = residentMb(server.pid) ?? 0;
  if (held > mostMb) throw new Error(`the server holds ${Math.round(held)} MB`);
}
