// A request and its response by the fetch standard, as Node's own classes: the front and everything behind it know
// only those. Bodies are streams both ways, with backpressure.
import { IncomingMessage, type ServerResponse } from "node:http";
import { Socket } from "node:net";
import { Readable, Writable } from "node:stream";

/** Runs a handler of Node's request and response on a `Request`. */
export function webExchange(
  request: Request,
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const response = new WebResponse(resolve);
    const abort = () => response.destroy();
    if (request.signal.aborted) abort();
    request.signal.addEventListener("abort", abort, { once: true });
    response.once("close", () => request.signal.removeEventListener("abort", abort));
    response.once("error", reject);
    // It has what the front uses of a ServerResponse, and no socket.
    handle(nodeRequest(request), response as unknown as ServerResponse).catch(reject);
  });
}

function nodeRequest(request: Request): IncomingMessage {
  const { method, url, headers, body } = request;
  const { host, pathname, search } = new URL(url);
  const message = new IncomingMessage(new Socket());
  message.method = method;
  message.url = pathname + search;
  message.headers = { host, ...Object.fromEntries(headers) };
  if (body === null) message.push(null);
  else {
    const source = Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]);
    message._read = () => source.resume();
    source.on("data", chunk => message.push(chunk) || source.pause());
    source.on("end", () => message.push(null));
    source.on("error", error => message.destroy(error));
  }
  return message;
}

/** Resolves to a `Response` when its head is written; what is written then is its body. */
class WebResponse extends Writable {
  readonly #resolve: (response: Response) => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #resume: (() => void) | undefined;
  headersSent = false;
  statusCode = 200;

  constructor(resolve: (response: Response) => void) {
    super();
    this.#resolve = resolve;
  }

  writeHead(status: number, headers: Readonly<Record<string, string>> = {}): this {
    this.statusCode = status;
    this.headersSent = true;
    const body = new ReadableStream<Uint8Array>({
      start: controller => {
        this.#controller = controller;
      },
      pull: () => {
        this.#resume?.();
      },
      cancel: () => {
        this.#controller = undefined;
        this.destroy();
      },
    });
    const bodiless = status === 204 || status === 304;
    this.#resolve(new Response(bodiless ? null : body, { status, headers: { ...headers } }));
    return this;
  }

  flushHeaders(): void {}

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    if (!this.headersSent) this.writeHead(200);
    this.#controller?.enqueue(new Uint8Array(chunk));
    if ((this.#controller?.desiredSize ?? 1) > 0) done();
    else
      this.#resume = () => {
        this.#resume = undefined;
        done();
      };
  }

  override _final(done: () => void): void {
    if (!this.headersSent) this.writeHead(this.statusCode);
    this.#close();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.headersSent) this.#resolve(new Response(null, { status: 499 }));
    // What was cut off must not look whole.
    else if (!this.writableFinished) this.#controller?.error(error ?? new Error("the response was cut off"));
    this.#controller = undefined;
    this.headersSent = true;
    done(error);
  }

  #close(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }
}
