// JSON-RPC with the client that shows the page, over postMessage: the messages of the MCP Apps extension
// (io.modelcontextprotocol/ui, revision 2026-01-26). Only what comes from the frame above is listened to.

type MessageFields = Readonly<Record<string, unknown>>;

interface UnansweredRequest {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

const patienceMs = 60_000;

export class Bridge {
  readonly #waiting = new Map<number, UnansweredRequest>();
  readonly #handlers = new Map<string, (params: MessageFields) => void>();
  #last = 0;

  constructor() {
    addEventListener("message", ({ source, data }) => {
      if (source === window.parent && isRecord(data) && data.jsonrpc === "2.0") this.#take(data);
    });
  }

  request(method: string, params: MessageFields): Promise<unknown> {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new Error("The client does not respond."));
      }, patienceMs);
      const settled = () => clearTimeout(timer);
      this.#waiting.set(id, {
        resolve: result => {
          settled();
          resolve(result);
        },
        reject: error => {
          settled();
          reject(error);
        },
      });
      this.#send({ id, method, params });
    });
  }

  notify(method: string, params: MessageFields = {}): void {
    this.#send({ method, params });
  }

  on(method: string, handle: (params: MessageFields) => void): void {
    this.#handlers.set(method, handle);
  }

  #take({ id, method, params, result, error }: MessageFields): void {
    if (typeof method === "string") {
      this.#handlers.get(method)?.(isRecord(params) ? params : {});
      if (id === undefined || id === null) return;
      // The client asks whether the page is there, or asks it to end: nothing has to be saved.
      if (method === "ping" || method === "ui/resource-teardown") this.#send({ id, result: {} });
      else this.#send({ id, error: { code: -32601, message: `Method not found: ${method.slice(0, 100)}` } });
      return;
    }
    const waiting = typeof id === "number" ? this.#waiting.get(id) : undefined;
    if (waiting === undefined) return;
    this.#waiting.delete(id as number);
    if (error === undefined) waiting.resolve(result);
    else waiting.reject(new Error(isRecord(error) ? String(error.message) : "The client refused."));
  }

  /** The client's origin is not known to the page, and nothing here is a secret from it: the data comes from there. */
  #send(message: MessageFields): void {
    window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
