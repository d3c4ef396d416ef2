// A small load balancer on loopback: each request goes to the next replica, and to another one where that does not
// take it. A request whose connection breaks after it was sent is not repeated: it may have been done.
import { createServer, request as httpRequest, type Server } from "node:http";
import { pipeline } from "node:stream";

export class Balancer implements AsyncDisposable {
  readonly #server: Server;
  #next = 0;

  constructor(replicas: () => readonly string[]) {
    this.#server = createServer((incoming, outgoing) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("end", () => {
        const urls = replicas();
        const first = this.#next++;
        const attempt = (n: number): void => {
          const url = urls[(first + n) % urls.length];
          if (url === undefined || n >= urls.length) return void outgoing.writeHead(502).end();
          const target = new URL(incoming.url ?? "/", url);
          const headers = { ...incoming.headers, host: target.host };
          const sent = httpRequest(target, { method: incoming.method, headers }, answer => {
            outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
            pipeline(answer, outgoing, () => {}); // a replica that dies in an answer ends it for the client too
          });
          sent.on("error", (error: NodeJS.ErrnoException) => {
            if (error.code === "ECONNREFUSED") return attempt(n + 1);
            if (!outgoing.headersSent) outgoing.writeHead(502);
            outgoing.end();
          });
          sent.end(Buffer.concat(chunks));
        };
        attempt(0);
      });
    });
  }

  async listen(port = 0): Promise<string> {
    await new Promise<void>(resolve => this.#server.listen(port, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as { port: number }).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise(resolve => this.#server.close(resolve));
  }
}
