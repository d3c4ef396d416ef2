// A bucket of S3-compatible storage, as far as the store needs it: objects that are put, created only if they are
// absent, read, listed and removed. Requests that fail on the way are made again.
import { setTimeout } from "node:timers/promises";
import { Fault, type StoreFailure } from "../../fault.ts";
import { RequestTimeout } from "../request-timeout.ts";
import { type Credentials, signed } from "./signature.ts";

export interface ListedKey {
  readonly key: string;
  /** Milliseconds since 1970, by the clock of the service. */
  readonly modified: number;
  readonly size: number;
}

interface S3Response {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

const pausesMs = [100, 300, 900];
const usualPatienceMs = 30_000;
/** More than any object of a store has; without a limit, an answer that does not end would fill the memory. */
const mostBytes = 300 * 1024 * 1024;
/** How often a service may say that the creation of a key is still undecided. */
const mostUndecided = 50;

export class S3Bucket {
  readonly #base: URL;
  readonly #prefix: string;
  readonly #credentials: Credentials;
  readonly #patienceMs: number;
  /** How far the clock of the service is ahead of this machine's. */
  #apart = 0;

  private constructor(base: URL, prefix: string, credentials: Credentials, patienceMs: number) {
    this.#base = base;
    this.#prefix = prefix;
    this.#credentials = credentials;
    this.#patienceMs = patienceMs;
  }

  /**
   * `s3://BUCKET/PREFIX?endpoint=URL&region=NAME`. Keys are in the environment, under the names that every tool for S3
   * knows. A request may take `patienceMs`, and longer by what it carries. Faults: `store_unavailable`.
   */
  static at(
    address: string,
    environment: NodeJS.ProcessEnv = process.env,
    patienceMs = usualPatienceMs,
  ): S3Bucket {
    const url = new URL(address);
    const region =
      url.searchParams.get("region") ??
      environment.AWS_REGION ??
      environment.AWS_DEFAULT_REGION ??
      "us-east-1";
    const endpoint =
      url.searchParams.get("endpoint") ?? environment.AWS_ENDPOINT_URL_S3 ?? environment.AWS_ENDPOINT_URL;
    const { AWS_ACCESS_KEY_ID: accessKey, AWS_SECRET_ACCESS_KEY: secretKey } = environment;
    if (accessKey === undefined || secretKey === undefined)
      throw unavailable("credentials", "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set");
    const base = new URL(
      endpoint === undefined || endpoint === null
        ? `https://${url.hostname}.s3.${region}.amazonaws.com/`
        : `${endpoint.replace(/\/$/, "")}/${url.hostname}/`,
    );
    const prefix = url.pathname.replace(/^\/+|\/+$/g, "");
    const credentials = { accessKey, secretKey, region, sessionToken: environment.AWS_SESSION_TOKEN };
    return new S3Bucket(base, prefix === "" ? "" : `${prefix}/`, credentials, patienceMs);
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    await this.#ask("PUT", key, { body: bytes }, [200, 201, 204]);
  }

  /**
   * Creates an object if there is none; false if there is. When repeated after a lost answer, it may find its own
   * object: the caller checks.
   */
  async create(key: string, bytes: Uint8Array): Promise<boolean> {
    for (let round = 1; round <= mostUndecided; round++) {
      const headers = { "if-none-match": "*" };
      const { status } = await this.#ask("PUT", key, { body: bytes, headers }, [200, 201, 204, 409, 412]);
      if (status === 412) return false;
      if (status !== 409) return true;
      await setTimeout(20 + Math.random() * 100); // another one is being created: who wins is not decided yet
    }
    throw unavailable("unreachable", "the service does not decide whether a key was created");
  }

  /** Faults: `store_unavailable`, also where the bucket or something on the way is missing instead of the object. */
  async get(key: string): Promise<Uint8Array | undefined> {
    const answer = await this.#ask("GET", key, {}, [200, 404]);
    if (answer.status === 200) return answer.body;
    if (codeOf(answer) === "NoSuchKey") return undefined;
    throw failureOf(answer);
  }

  /**
   * When it was last put; undefined if there is none. An answer without content does not prove that the object is
   * missing, so nothing may be removed because of it.
   */
  async modified(key: string): Promise<number | undefined> {
    const { status, headers } = await this.#ask("HEAD", key, {}, [200, 404]);
    return status === 404 ? undefined : Date.parse(headers.get("last-modified") ?? "");
  }

  async remove(key: string): Promise<void> {
    await this.#ask("DELETE", key, {}, [200, 204, 404]);
  }

  /** In the order of keys, those behind `after` only. */
  async *list(prefix: string, after = ""): AsyncGenerator<ListedKey> {
    let last = after === "" ? "" : this.#prefix + after;
    for (let token: string | undefined; ; ) {
      const query = {
        ...{ "list-type": "2", prefix: this.#prefix + prefix },
        ...(after !== "" && token === undefined && { "start-after": this.#prefix + after }),
        ...(token !== undefined && { "continuation-token": token }),
      };
      const { body } = await this.#ask("GET", undefined, { query }, [200]);
      const text = Buffer.from(body).toString();
      const more = element(text, "IsTruncated");
      // Half of a list would pass for the whole, and what it lacks for unneeded.
      if (!/<ListBucketResult[\s>][\s\S]*<\/ListBucketResult>\s*$/.test(text) || !/^(true|false)$/.test(more))
        throw unavailable("invalid", "a malformed list");
      for (const [, one = ""] of text.matchAll(/<Contents>([\s\S]*?)<\/Contents>/g)) {
        const key = element(one, "Key");
        // Out of order, or outside of what was asked for: a list that repeats itself would never end.
        if (!key.startsWith(this.#prefix + prefix) || key <= last)
          throw unavailable("invalid", `the list of ${prefix} is not in order`);
        last = key;
        yield {
          key: key.slice(this.#prefix.length),
          modified: Date.parse(element(one, "LastModified")),
          size: Number(element(one, "Size")),
        };
      }
      if (more !== "true") return;
      const next = element(text, "NextContinuationToken");
      if (next === "" || next === token)
        throw unavailable("invalid", `the list of ${prefix} does not continue`);
      token = next;
    }
  }

  /** What the clock of the service says. */
  async now(): Promise<number> {
    const { headers } = await this.#ask(
      "GET",
      undefined,
      { query: { "list-type": "2", "max-keys": "1" } },
      [200],
    );
    const now = Date.parse(headers.get("date") ?? "");
    if (Number.isNaN(now)) throw unavailable("invalid", "the service does not say what time it is");
    return now;
  }

  async #ask(
    method: string,
    key: string | undefined,
    {
      body,
      headers = {},
      query = {},
    }: {
      readonly body?: Uint8Array;
      readonly headers?: Readonly<Record<string, string>>;
      readonly query?: Readonly<Record<string, string>>;
    },
    expected: readonly number[],
  ): Promise<S3Response> {
    const url = new URL(this.#base);
    if (key !== undefined) url.pathname += (this.#prefix + key).split("/").map(encodeURIComponent).join("/");
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    for (let attempt = 0; ; attempt++) {
      const pause = pausesMs[attempt];
      try {
        const answer = await this.#send({ method, url, headers, body });
        if (expected.includes(answer.status)) return answer;
        const failure = failureOf(answer);
        if (codeOf(answer) === skewed && attempt === 0) this.#setClock(answer);
        else if (!isPassing(answer) || pause === undefined) throw failure;
      } catch (error) {
        if (error instanceof Fault) throw error;
        const detail =
          error instanceof Error ? String((error.cause as Error | undefined)?.message ?? error.message) : "";
        // Patience has run out already: asking again would double it.
        const isLate = error instanceof Error && error.name === "TimeoutError";
        if (pause === undefined || isLate) throw unavailable("unreachable", detail);
      }
      await setTimeout(pause);
    }
  }

  /** The service refuses signatures of another time: from now on its clock counts. */
  #setClock({ headers }: S3Response): void {
    const now = Date.parse(headers.get("date") ?? "");
    if (!Number.isNaN(now)) this.#apart = now - Date.now();
  }

  async #send(request: Parameters<typeof signed>[0]): Promise<S3Response> {
    const headers = signed(request, this.#credentials, new Date(Date.now() + this.#apart));
    using timeout = new RequestTimeout(this.#patienceMs, request.body?.length ?? 0);
    const response = await fetch(request.url, {
      method: request.method,
      headers,
      signal: timeout.signal,
      // A bucket of another region answers with its address, which has to be configured: the signature is for this one.
      redirect: "manual",
      ...(request.body && { body: request.body }),
    });
    return { status: response.status, headers: response.headers, body: await bodyOf(response, timeout) };
  }
}

async function bodyOf({ body }: Response, timeout: RequestTimeout): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    size += chunk.length;
    timeout.arrived(chunk.length);
    if (size > mostBytes) throw unavailable("damaged", `an answer has more than ${mostBytes} bytes`);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

/** Worth another attempt. */
function isPassing(answer: S3Response): boolean {
  const { status } = answer;
  return status >= 500 || status === 408 || status === 429 || passing.has(codeOf(answer));
}

function codeOf({ body }: S3Response): string {
  return element(Buffer.from(body).toString(), "Code");
}

const passing = new Set(["RequestTimeout", "SlowDown", "Throttling", "TooManyRequests"]);
const skewed = "RequestTimeTooSkewed";

function failureOf(answer: S3Response): Fault {
  const { status, body } = answer;
  const text = Buffer.from(body).toString();
  const code = element(text, "Code");
  const detail = [status, code, element(text, "Message")].filter(part => part !== "").join(" ");
  const reasons: Readonly<Record<string, StoreFailure>> = {
    InvalidAccessKeyId: "credentials",
    SignatureDoesNotMatch: "credentials",
    ExpiredToken: "credentials",
    [skewed]: "credentials",
    AccessDenied: "rights",
    NoSuchBucket: "invalid",
    QuotaExceeded: "full",
    InsufficientCapacity: "full",
    NotImplemented: "conditions",
  };
  const fallback =
    status === 403 ? "rights" : status === 507 ? "full" : isPassing(answer) ? "unreachable" : "invalid";
  return unavailable(reasons[code] ?? fallback, detail);
}

export function unavailable(reason: StoreFailure, detail: string): Fault {
  return new Fault("store_unavailable", { reason, detail });
}

function element(text: string, name: string): string {
  const found = new RegExp(`<${name}>([\\s\\S]*?)</${name}>`).exec(text)?.[1] ?? "";
  return found
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#34;", '"')
    .replaceAll("&amp;", "&");
}
