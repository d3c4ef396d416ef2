// A proxy before an S3 service that makes objects look older than they are. Everything else passes through unchanged,
// signatures included.
import { createServer, request } from "node:http";

export class AgeingProxy implements AsyncDisposable {
  readonly #target: URL;
  readonly #server = createServer((incoming, outgoing) => {
    const url = new URL(incoming.url ?? "/", this.#target);
    const options = { method: incoming.method, headers: incoming.headers, setHost: false };
    const sent = request(url, options, answer => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () => {
        const { "content-length": _, "transfer-encoding": __, ...headers } = answer.headers;
        const modified = headers["last-modified"];
        if (modified !== undefined)
          headers["last-modified"] = new Date(this.#aged(Date.parse(modified))).toUTCString();
        const body = Buffer.concat(chunks);
        const isList = url.searchParams.has("list-type");
        const length = answer.headers["content-length"];
        outgoing.writeHead(answer.statusCode ?? 502, {
          ...headers,
          ...(!isList && length !== undefined && { "content-length": length }),
        });
        outgoing.end(isList ? this.#agedList(body.toString()) : body);
      });
    });
    sent.on("error", () => outgoing.destroy());
    incoming.pipe(sent);
  });
  /** What was put before `at` looks older by `ms`. */
  readonly #agings: { readonly at: number; readonly ms: number }[] = [];

  constructor(target: string) {
    this.#target = new URL(target);
  }

  async listen(): Promise<string> {
    await new Promise<void>(resolve => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as { port: number }).port}`;
  }

  /** Times of the service have whole seconds: what is put before and after must differ in them. */
  async age(ms: number): Promise<void> {
    await pause(1100);
    this.#agings.push({ at: Date.now(), ms });
    await pause(1100);
  }

  #aged(modified: number): number {
    return this.#agings.reduce((time, { at, ms }) => (modified < at ? time - ms : time), modified);
  }

  #agedList(text: string): string {
    return text.replace(
      /<LastModified>([^<]*)<\/LastModified>/g,
      (_, time) => `<LastModified>${new Date(this.#aged(Date.parse(time))).toISOString()}</LastModified>`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise(resolve => this.#server.close(resolve));
  }
}

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms));
}
