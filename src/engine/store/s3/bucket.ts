// A bucket of S3-compatible storage, as far as the store needs it: objects that are put, created only if they are
// absent, read, listed and removed. Requests that fail on the way are made again.
import { setTimeout } from "node:timers/promises";
import { Fault, type StoreFailure } from "../../fault.ts";
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
const patienceMs = 30_000;

export class S3Bucket {
  readonly #base: URL;
  readonly #prefix: string;
  readonly #credentials: Credentials;

  private constructor(base: URL, prefix: string, credentials: Credentials) {
    this.#base = base;
    this.#prefix = prefix;
    this.#credentials = credentials;
  }

  /**
   * `s3://BUCKET/PREFIX?endpoint=URL&region=NAME`. Keys are in the environment, under the names that every tool for S3
   * knows. Faults: `store_unavailable`.
   */
  static at(address: string, environment: NodeJS.ProcessEnv = process.env): S3Bucket {
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
    return new S3Bucket(base, prefix === "" ? "" : `${prefix}/`, credentials);
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    await this.#ask("PUT", key, { body: bytes }, [200, 201, 204]);
  }

  /**
   * Creates an object if there is none; false where there is. Asked again because an answer was lost, it may find its
   * own object: the caller looks.
   */
  async create(key: string, bytes: Uint8Array): Promise<boolean> {
    for (;;) {
      const headers = { "if-none-match": "*" };
      const { status } = await this.#ask("PUT", key, { body: bytes, headers }, [200, 201, 204, 409, 412]);
      if (status === 412) return false;
      if (status !== 409) return true;
      await setTimeout(20 + Math.random() * 100); // another one is being created: who wins is not decided yet
    }
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    const { status, body } = await this.#ask("GET", key, {}, [200, 404]);
    return status === 404 ? undefined : body;
  }

  /** When it was last put; undefined where there is none. */
  async modified(key: string): Promise<number | undefined> {
    const { status, headers } = await this.#ask("HEAD", key, {}, [200, 404]);
    return status === 404 ? undefined : Date.parse(headers.get("last-modified") ?? "");
  }

  async remove(key: string): Promise<void> {
    await this.#ask("DELETE", key, {}, [200, 204, 404]);
  }

  /** In the order of keys, those behind `after` only. */
  async *list(prefix: string, after = ""): AsyncGenerator<ListedKey> {
    for (let token: string | undefined; ; ) {
      const query = {
        ...{ "list-type": "2", prefix: this.#prefix + prefix },
        ...(after !== "" && token === undefined && { "start-after": this.#prefix + after }),
        ...(token !== undefined && { "continuation-token": token }),
      };
      const { body } = await this.#ask("GET", undefined, { query }, [200]);
      const text = Buffer.from(body).toString();
      for (const [, one = ""] of text.matchAll(/<Contents>([\s\S]*?)<\/Contents>/g))
        yield {
          key: element(one, "Key").slice(this.#prefix.length),
          modified: Date.parse(element(one, "LastModified")),
          size: Number(element(one, "Size")),
        };
      if (element(text, "IsTruncated") !== "true") return;
      token = element(text, "NextContinuationToken");
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
    return Date.parse(headers.get("date") ?? "") || Date.now();
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
        if (answer.status < 500 || pause === undefined) throw failure;
      } catch (error) {
        if (error instanceof Fault) throw error;
        const detail =
          error instanceof Error ? String((error.cause as Error | undefined)?.message ?? error.message) : "";
        if (pause === undefined) throw unavailable("unreachable", detail);
      }
      await setTimeout(pause);
    }
  }

  async #send(request: Parameters<typeof signed>[0]): Promise<S3Response> {
    const headers = signed(request, this.#credentials, new Date());
    const response = await fetch(request.url, {
      method: request.method,
      headers,
      signal: AbortSignal.timeout(patienceMs),
      ...(request.body && { body: request.body }),
    });
    return {
      status: response.status,
      headers: response.headers,
      body: new Uint8Array(await response.arrayBuffer()),
    };
  }
}

function failureOf({ status, body }: S3Response): Fault {
  const text = Buffer.from(body).toString();
  const code = element(text, "Code");
  const detail = [status, code, element(text, "Message")].filter(part => part !== "").join(" ");
  const reasons: Readonly<Record<string, StoreFailure>> = {
    InvalidAccessKeyId: "credentials",
    SignatureDoesNotMatch: "credentials",
    ExpiredToken: "credentials",
    RequestTimeTooSkewed: "credentials",
    AccessDenied: "rights",
    NoSuchBucket: "invalid",
    QuotaExceeded: "full",
    InsufficientCapacity: "full",
    NotImplemented: "conditions",
  };
  const fallback =
    status === 403 ? "rights" : status === 507 ? "full" : status >= 500 ? "unreachable" : "invalid";
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
