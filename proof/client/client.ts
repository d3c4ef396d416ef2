// A connection to a server, over standard input and output or over HTTP, that sends requests and receives answers. A
// request that is not answered in time is an error of the server.
export interface Message {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: string;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

/** What a tool answered, as text; a JSON-RPC error is an answer as well. */
export interface Answer {
  readonly text: string;
  readonly failed: boolean;
  /** Of a JSON-RPC error. */
  readonly code?: number;
}

/** The server is gone, or did not answer in time: it is unknown whether the call was done. */
export class NoAnswer extends Error {
  readonly reason: "gone" | "late";

  constructor(reason: "gone" | "late", what: string) {
    super(what);
    this.reason = reason;
  }
}

export interface Client {
  request(method: string, params?: unknown): Promise<Message>;
  close(): Promise<void>;
}

export const clientInfo = { name: "proof", version: "1" };
export const revision = "2025-11-25";

export async function call(client: Client, tool: string, args: object): Promise<Answer> {
  return answerIn(await client.request("tools/call", { name: tool, arguments: args }));
}

function answerIn({ result, error }: Message): Answer {
  if (error !== undefined) return { text: error.message, failed: true, code: error.code };
  const items = Array.isArray(result?.content) ? result.content : [];
  const text = items.map(item => textOf(item)).join("\n");
  return { text, failed: result?.isError === true };
}

function textOf(item: unknown): string {
  if (typeof item !== "object" || item === null) return "";
  if ("text" in item && typeof item.text === "string") return item.text;
  if (!("resource" in item)) return "";
  return textOf(item.resource);
}
