// A small S3 of the tests' own: buckets in memory, conditional writes as the service documents them, listing in pages.
// It can be told to ignore conditions, as some servers do, and to lose answers.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { signed } from "../../src/engine/store/s3/signature.ts";

const credentials = { accessKey: "key", secretKey: "secret", region: "us-east-1" };

export class S3Server implements AsyncDisposable {
  readonly objects = new Map<string, { readonly bytes: Buffer; modified: number }>();
  ignoresConditions = false;
  /** Compares and writes in two steps, so that of several that come at the same time more than one wins. */
  forgetsWhenBusy = false;
  /** Does the next write and loses its answer. */
  losesNext = false;
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  #port = 0;

  static async start(): Promise<S3Server> {
    const own = new S3Server();
    await new Promise<void>(resolve => own.#server.listen(0, "127.0.0.1", resolve));
    own.#port = (own.#server.address() as { port: number }).port;
    return own;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  address(prefix: string): string {
    return `s3://bucket/${prefix}?endpoint=${encodeURIComponent(this.url)}`;
  }

  get environment(): NodeJS.ProcessEnv {
    return { AWS_ACCESS_KEY_ID: credentials.accessKey, AWS_SECRET_ACCESS_KEY: credentials.secretKey };
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const url = new URL(request.url ?? "/", `http://${request.headers.host}`);
    if (!isSigned(request, url, body)) return refuse(response, 403, "SignatureDoesNotMatch");
    const key = decodeURIComponent(url.pathname.replace("/bucket/", ""));
    const found = this.objects.get(key);
    switch (request.method) {
      case "PUT": {
        const isFree = request.headers["if-none-match"] !== "*" || found === undefined;
        if (!isFree && !this.ignoresConditions) return refuse(response, 412, "PreconditionFailed");
        if (this.forgetsWhenBusy) await new Promise(resolve => setTimeout(resolve, 200));
        this.objects.set(key, { bytes: body, modified: Date.now() });
        if (this.losesNext) {
          this.losesNext = false;
          return void response.destroy();
        }
        return void response.end();
      }
      case "DELETE":
        this.objects.delete(key);
        return void response.writeHead(204).end();
      default:
        if (url.searchParams.has("list-type")) return this.#list(url, response);
        if (found === undefined) return refuse(response, 404, "NoSuchKey");
        response.setHeader("last-modified", new Date(found.modified).toUTCString());
        return void response.end(request.method === "HEAD" ? undefined : found.bytes);
    }
  }

  /** In pages of three, so that every list of some length needs several. */
  #list({ searchParams }: URL, response: ServerResponse): void {
    const prefix = searchParams.get("prefix") ?? "";
    const after = searchParams.get("continuation-token") ?? searchParams.get("start-after") ?? "";
    const keys = [...this.objects.keys()].filter(key => key.startsWith(prefix) && key > after).sort();
    const page = keys.slice(0, 3);
    const contents = page.map(key => {
      const { bytes, modified } = this.objects.get(key) ?? { bytes: Buffer.alloc(0), modified: 0 };
      return `<Contents><Key>${key}</Key><LastModified>${new Date(modified).toISOString()}</LastModified><Size>${bytes.length}</Size></Contents>`;
    });
    const more = keys.length > page.length;
    const next = more ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : "";
    response.end(
      `<ListBucketResult><IsTruncated>${more}</IsTruncated>${next}${contents.join("")}</ListBucketResult>`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise(resolve => this.#server.close(resolve));
  }
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status).end(`<Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}

function isSigned({ method = "", headers }: IncomingMessage, url: URL, body: Buffer): boolean {
  const { "x-amz-date": date = "", "x-amz-content-sha256": hash, authorization } = headers;
  if (hash !== createHash("sha256").update(body).digest("hex")) return false;
  const time = String(date).replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z");
  const conditions: Record<string, string> =
    headers["if-none-match"] === undefined ? {} : { "if-none-match": headers["if-none-match"] };
  const expected = signed({ method, url, headers: conditions, body }, credentials, new Date(time));
  return expected.authorization === authorization;
}
