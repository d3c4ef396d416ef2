// Asks the server. The page asks over HTTP; embedded in a client it asks that client (embedded/), with the same
// routes and the same answers, so nothing else knows where it runs.
import type { Problem } from "../../src/review/api.ts";

/** A failed request, in words for people. */
export class RequestError extends Error {
  readonly code: string;
  readonly status: number;
  /** The answer's body: an undo that conflicts answers with the later edits. */
  readonly body: unknown;

  constructor(status: number, { error, message }: Problem, body?: unknown) {
    super(message);
    this.status = status;
    this.code = error;
    this.body = body;
  }
}

export type PageTransport = (route: string, body?: unknown, signal?: AbortSignal) => Promise<unknown>;

let transport: PageTransport = overHttp;

export function useTransport(other: PageTransport): void {
  transport = other;
}

export function get<T>(route: string, signal?: AbortSignal): Promise<T> {
  return transport(route, undefined, signal) as Promise<T>;
}

export function post<T>(route: string, body: unknown): Promise<T> {
  return transport(route, body) as Promise<T>;
}

/** `?a=1&b=2`, without empty values. */
export function query(parameters: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== "");
  return given.length === 0 ? "" : `?${new URLSearchParams(given.map(([key, value]) => [key, `${value}`]))}`;
}

async function overHttp(route: string, body?: unknown, signal?: AbortSignal): Promise<unknown> {
  const init: RequestInit = { credentials: "same-origin", cache: "no-store" };
  if (signal !== undefined) init.signal = signal;
  if (body !== undefined) {
    init.method = "POST";
    init.headers = { "Content-Type": "application/json", "X-Polyfs-Review": "1" };
    init.body = JSON.stringify(body);
  }
  let response: Response;
  try {
    response = await fetch(route, init);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new RequestError(0, { error: "offline", message: "The server does not respond." });
  }
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return answer;
  throw new RequestError(response.status, problemIn(answer, response.status), answer);
}

function problemIn(answer: unknown, status: number): Problem {
  const { error, message } = (answer ?? {}) as Partial<Problem>;
  return { error: error ?? "failed", message: message ?? `The server answered with status ${status}.` };
}
