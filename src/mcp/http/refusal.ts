// A request that is not served, with the status that says why. It is answered as a JSON-RPC error without an id,
// because that is what clients of the protocol read.

interface RefusalOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** The code of the JSON-RPC error. */
  readonly code?: number;
}

export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly code: number;

  constructor(status: number, message: string, { headers = {}, code = -32000 }: RefusalOptions = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
    this.code = code;
  }

  get body(): string {
    return JSON.stringify({
      jsonrpc: "2.0",
      error: { code: this.code, message: this.message },
      id: null,
    });
  }
}
