// The page and its API over HTTP: authentication, origin checks and routes. Refuses what another page or another host
// name sends, before it looks at anything else.
import type { IncomingMessage, ServerResponse } from "node:http";
import { clock } from "../../engine/clock.ts";
import { readPageFile } from "../../host/page-files.ts";
import type { Problem } from "../api.ts";
import type { Review } from "../review.ts";
import { Routes } from "../routes.ts";
import type { Viewer } from "../viewer.ts";
import type { Entrance, Lookup } from "./entrance.ts";
import { fileTypes, guarded } from "./headers.ts";
import { actionIn, type PageWatch } from "./page-watch.ts";
import { notSignedIn, placeholder, signIn } from "./plain-pages.ts";
import { streamTo } from "./stream.ts";

const maxBodyBytes = 1024 * 1024;
/** A form with a token. Anyone may send one, over every connection at once, and what has come of it is in memory. */
const maxFormBytes = 16 * 1024;

export interface PageOptions {
  readonly review: Review;
  readonly entrance: Entrance;
  /** Whether a Host header names this server. */
  isOurHost(host: string): boolean;
  readonly secure: boolean;
  /** Signs in by a token of the HTTP server; absent where only one-time tokens count. */
  readonly signIn?: (token: string) => Lookup;
  /** By a header that no page of another origin can send. */
  readonly byHeader?: (authorization: string | undefined) => Lookup;
  readonly watch?: PageWatch;
  failed(error: unknown): void;
}

/** How a request ended, for the access log. */
export interface Handled {
  /** The name of the token. */
  readonly who?: string | undefined;
  /** Whether the watch has recorded it. */
  readonly recorded: boolean;
}

export class Page {
  readonly #options: PageOptions;
  readonly #routes: Routes;

  constructor(options: PageOptions) {
    this.#options = options;
    this.#routes = new Routes(options.review);
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<Handled> {
    const handled: { who?: string | undefined; recorded: boolean } = { recorded: false };
    try {
      await this.#handle(request, response, handled);
    } catch (error) {
      this.#options.failed(error);
      if (response.headersSent) response.destroy();
      else problem(response, 500, "internal", "Internal server error. See the server's log.");
    }
    return handled;
  }

  async #handle(
    request: IncomingMessage,
    response: ServerResponse,
    handled: { who?: string | undefined; recorded: boolean },
  ): Promise<void> {
    const { method = "GET" } = request;
    const refusal = this.#foreign(request);
    if (refusal !== undefined) return problem(response, 403, "foreign", refusal);
    // A target such as `//` is not a path below a host.
    const target = `http://localhost/${(request.url ?? "/").replace(/^\/+/, "")}`;
    if (!URL.canParse(target)) return problem(response, 404, "not_found", "There is nothing here.");
    const url = new URL(target);
    const path = url.pathname;
    if (path === "/" || path === "/review" || /^\/review\/w\/[^/]+$/.test(path))
      return void send(response, 303, { location: `${path === "/" ? "/review" : path}/${url.search}` });
    const [, place, below] = /^\/review\/(?:w\/([^/]+)\/)?(.*)$/s.exec(path) ?? [];
    if (below === undefined) return problem(response, 404, "not_found", "There is nothing here.");
    const token = url.searchParams.get("token");
    if (below === "" && token !== null && method === "GET")
      return await this.#enter(token, place, request, response);
    if (below === "signin" && method === "POST") return await this.#signIn(place, request, response);
    // The page for signing in looks like the rest; its style holds nothing private.
    if (below === "app.css") return await this.#file(below, method, response);
    const lookup = this.#lookup(request);
    const viewer = await lookup?.(place);
    if (lookup === undefined || viewer === undefined) return this.#turnAway(below, response);
    handled.who = viewer.who;
    if (!below.startsWith("api/")) return await this.#file(below, method, response);
    const { watch } = this.#options;
    const wait = watch?.waitOf?.(viewer);
    if (wait !== undefined) {
      response.setHeader("retry-after", String(wait));
      return problem(
        response,
        429,
        "too_many_requests",
        `Too many requests with this token. Wait ${wait} s.`,
      );
    }
    if (below === "api/events" && method === "GET")
      return streamTo(request, response, {
        review: this.#options.review,
        viewer,
        lookup: () => lookup(place),
      });
    if (method !== "GET" && method !== "POST") return problem(response, 405, "method", "Send GET or POST.");
    const body = method === "POST" ? await bodyOf(request) : undefined;
    if (body !== undefined && "refused" in body)
      return problem(response, body.status, "invalid_input", body.refused);
    const [route, query] = [below.slice("api/".length), url.searchParams];
    const began = clock();
    const answer = await this.#routes.answer({ method, route, query, body: body?.value }, viewer);
    const text = JSON.stringify(answer.body);
    const action = answer.status === 404 ? undefined : actionIn(method, route, query, body?.value);
    const record = action && watch?.record;
    const { remoteAddress: address } = request.socket;
    const [bytesIn, bytesOut, ms] = [body?.bytes ?? 0, Buffer.byteLength(text), clock() - began];
    if (record) record({ ...action, viewer, address, bytesIn, bytesOut, ms, answer });
    handled.recorded = record !== undefined;
    json(response, answer.status, text);
  }

  /** Why a request is refused. Browsers cannot forge these headers. */
  #foreign({ headers, headersDistinct }: IncomingMessage): string | undefined {
    const { host = "", origin } = headers;
    // Of several, Node takes the first; a proxy in front may have taken another.
    if (headersDistinct.host?.length !== 1 || !this.#options.isOurHost(host.toLowerCase()))
      return "This page does not accept that Host.";
    // Where a proxy ends TLS, the page's scheme is not ours.
    const own = [`http://${host}`, `https://${host}`].map(one => one.toLowerCase());
    if (origin !== undefined && !own.includes(origin.toLowerCase()))
      return "Requests from another Origin are not answered.";
    const site = headers["sec-fetch-site"];
    const isNavigation = headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
    if (site === undefined || site === "same-origin" || site === "none" || isNavigation) return undefined;
    return "Requests from another site are not answered.";
  }

  async #enter(
    token: string,
    place: string | undefined,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const signedIn = this.#options.entrance.redeem(token, request.socket, this.#cookie(request));
    if (signedIn === undefined) return void html(response, 401, notSignedIn);
    const viewer = await signedIn.lookup(place);
    if (viewer !== undefined) this.#recordSignIn(viewer, request, 0);
    send(response, 303, { location: addressOf(place), "set-cookie": signedIn.cookie });
  }

  async #signIn(
    place: string | undefined,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const text = await textOf(request, maxFormBytes);
    if (text === undefined) {
      response.setHeader("connection", "close");
      return void html(response, 413, signIn("This token is not accepted here."));
    }
    const token = new URLSearchParams(text).get("token")?.trim() ?? "";
    const lookup = token === "" ? undefined : this.#options.signIn?.(token);
    const viewer = await lookup?.(place);
    if (lookup === undefined || viewer === undefined)
      return void html(response, 401, signIn("This token is not accepted here."));
    const cookie = this.#options.entrance.admit(lookup, this.#cookie(request));
    this.#recordSignIn(viewer, request, Buffer.byteLength(text));
    send(response, 303, { location: addressOf(place), "set-cookie": cookie });
  }

  /** Refused ones are recorded as other refused requests are. */
  #recordSignIn(viewer: Viewer, { socket }: IncomingMessage, bytesIn: number): void {
    const action = { viewer, address: socket.remoteAddress, route: "signin", paths: [], about: {} };
    const answer = { status: 200, body: {} };
    this.#options.watch?.record?.({ ...action, bytesIn, bytesOut: 0, ms: 0, answer });
  }

  #lookup(request: IncomingMessage): Lookup | undefined {
    const { authorization, cookie } = request.headers;
    if (authorization !== undefined) return this.#options.byHeader?.(authorization);
    return this.#options.entrance.find(cookie, this.#cookie(request).port);
  }

  #cookie({ socket }: IncomingMessage) {
    return { port: socket.localPort ?? 0, secure: this.#options.secure };
  }

  #turnAway(below: string, response: ServerResponse): void {
    if (below.startsWith("api/")) return void problem(response, 401, "unauthorized", "Sign in first.");
    html(response, 401, this.#options.signIn === undefined ? notSignedIn : signIn());
  }

  async #file(below: string, method: string, response: ServerResponse): Promise<void> {
    if (method !== "GET" && method !== "HEAD") return void problem(response, 405, "method", "Send GET.");
    const name = below === "" ? "index.html" : below;
    const type = fileTypes[/^[\w-]+(?:\.[\w-]+)*\.(\w+)$/.exec(name)?.[1] ?? ""];
    // app.html is for MCP clients, which put it into a frame of their own.
    const contents = type === undefined || name === "app.html" ? undefined : await readPageFile(name);
    if (contents !== undefined && type !== undefined) send(response, 200, { "content-type": type }, contents);
    else if (below === "") html(response, 200, placeholder);
    else problem(response, 404, "not_found", "There is no such file.");
  }
}

/** Of the page of a workspace, or of the page itself. */
function addressOf(place: string | undefined): string {
  return place === undefined ? "/review/" : `/review/w/${place}/`;
}

type ReadBody =
  | { readonly value: unknown; readonly bytes: number }
  | { readonly refused: string; readonly status: number };

/** Only what a page of another origin cannot send without being asked first. */
async function bodyOf(request: IncomingMessage): Promise<ReadBody> {
  if (!/^application\/json\s*(;|$)/i.test(request.headers["content-type"] ?? ""))
    return { refused: "Send application/json.", status: 415 };
  if (request.headers["x-polyfs-review"] !== "1")
    return { refused: "Send the header X-Polyfs-Review: 1.", status: 400 };
  const text = await textOf(request, maxBodyBytes);
  if (text === undefined) return { refused: `A request may have up to ${maxBodyBytes} bytes.`, status: 413 };
  try {
    return { value: text === "" ? {} : JSON.parse(text), bytes: Buffer.byteLength(text) };
  } catch {
    return { refused: "The body is not JSON.", status: 400 };
  }
}

/** Undefined if there are more bytes than that. */
async function textOf(request: IncomingMessage, most: number): Promise<string | undefined> {
  if (Number(request.headers["content-length"]) > most) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  // A refused request stays open: its connection is needed for the answer.
  const arriving: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
  for await (const chunk of arriving) {
    bytes += chunk.length;
    if (bytes > most) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function send(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string | Buffer = "",
): void {
  const bytes = Buffer.byteLength(body);
  response.writeHead(status, { ...guarded, ...headers, "content-length": bytes }).end(body);
}

function html(response: ServerResponse, status: number, body: string): void {
  send(response, status, { "content-type": fileTypes.html ?? "" }, body);
}

function json(response: ServerResponse, status: number, text: string): void {
  send(response, status, { "content-type": "application/json; charset=utf-8" }, text);
}

function problem(response: ServerResponse, status: number, error: string, message: string): void {
  const body: Problem = { error, message };
  if (status === 413) response.setHeader("connection", "close");
  json(response, status, JSON.stringify(body));
}
