// MCP over HTTP for many clients. It listens until it is told to end; then it takes nothing new, lets what is
// running finish for a while, and stops the rest.
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo, Server } from "node:net";
import type { Session } from "../../contract/session.ts";
import { runningCommands } from "../../engine/shell/living.ts";
import { openFiles } from "../../engine/workspace/system/open-files.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import type { Log } from "../log.ts";
import { type Audit, Recorder } from "../recorder.ts";
import { createServer } from "../server.ts";
import type { RequestTracing } from "../tracing.ts";
import { Bodies } from "./body.ts";
import { CallScheduler } from "./call-scheduler.ts";
import { Endpoint } from "./endpoint.ts";
import { Front } from "./front.ts";
import { HostCheck, type HostCheckOptions } from "./host-check.ts";
import { defaultKeepAliveMs } from "./keep-alive.ts";
import { inUrl, isLoopback, type ListenAddress } from "./listen-address.ts";
import { Metrics } from "./metrics.ts";
import { RequestContexts } from "./request-context.ts";
import type { SessionLimits } from "./sessions.ts";
import { Tables, type TablesOptions } from "./tables.ts";

export interface HttpOptions
  extends Omit<TablesOptions, "create" | "subscriptions">,
    Partial<Pick<TablesOptions, "create">>,
    Omit<HostCheckOptions, "address">,
    Partial<SessionLimits> {
  readonly address: ListenAddress;
  /** Absent: everybody who reaches the address, which must then be this machine alone. */
  readonly access: Authenticator;
  readonly authenticated: boolean;
  readonly log: Log;
  readonly audit?: Audit;
  readonly tracing?: RequestTracing;
  /** HTTPS with this certificate and key. */
  readonly tls?: Certificate;
  /** Where the figures are served instead of beside the rest, without authentication. */
  readonly metricsAddress?: ListenAddress;
  /** Keep nothing between requests, for use behind a load balancer. */
  readonly stateless?: boolean;
  readonly maxBodyBytes?: number;
  /** How long calls may go on once the server is to end. */
  readonly graceMs?: number;
}

/** In PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface HttpService {
  /** Where it listens, as a URL without a path. */
  readonly url: string;
  readonly metricsUrl?: string;
  /** Takes a new certificate for the connections to come. Throws where it cannot be used. */
  renew(certificate: Certificate): void;
  /** Takes nothing new, finishes what runs, and ends. Called again, it ends at once. */
  close(): Promise<void>;
}

const timeouts = { keepAliveTimeout: 65_000, headersTimeout: 20_000, requestTimeout: 120_000 };
/** After the last call: for answers to be read, and stopped calls to clean up. */
const lastMs = 2000;

export async function serveHttp(options: HttpOptions): Promise<HttpService> {
  const { address, access, engine, log, create = createServer, graceMs = 30_000 } = options;
  if (!options.authenticated && !isLoopback(address.host)) {
    throw new Error(`without authentication only this machine is served, not ${address.host}`);
  }
  const metrics = new Metrics();
  const recorder = new Recorder(engine.workspace, {
    audit: options.audit,
    count: figures => metrics.call(figures),
  });
  const calls = new CallScheduler(recorder, options.tracing);
  const { sessions = 1000, sessionsPerCaller = 100, idleMs = 30 * 60_000, stateless = false } = options;
  const { keepAliveMs = defaultKeepAliveMs } = options;
  const limits = { sessions, sessionsPerCaller, idleMs, keepAliveMs };
  const sessionEnded = (session: Session) => options.tracing?.sessionEnded(session, "http");
  const endpoint = new Endpoint({
    contexts: new RequestContexts(),
    calls,
    log,
    stateless,
    sessionEnded,
    ...limits,
  });
  const front = new Front({
    hostCheck: new HostCheck(options),
    access,
    tables: new Tables({ ...options, create, subscriptions: !stateless }),
    bodies: new Bodies(options.maxBodyBytes ?? 64 * 1024 * 1024),
    endpoint,
    metrics,
    recorder,
    log,
    keepAliveMs,
    separateFigures: options.metricsAddress !== undefined,
    printMetrics: () =>
      metrics.print([
        gauge("polyfs_sessions", "Open sessions", () => endpoint.sessions.count),
        gauge(
          "polyfs_requests_open",
          "Requests being answered, streams included",
          () => front.openRequests.count,
        ),
        gauge("polyfs_calls_running", "Calls running", () => calls.running),
        gauge("polyfs_calls_waiting", "Calls waiting", () => calls.waiting),
        gauge("polyfs_jobs", "Commands running, those in the background included", runningCommands),
        gauge("polyfs_open_files", "Open files of the process", openFiles),
        gauge("process_resident_memory_bytes", "Resident memory", () => process.memoryUsage.rss()),
      ]),
  });

  const server = await createListener(
    options.tls,
    (request, response) => void front.handle(request, response),
  );
  await listen(server, address, log);
  const figures =
    options.metricsAddress &&
    createHttpServer(timeouts, (request, response) => front.handleFigures(request, response));
  if (figures !== undefined && options.metricsAddress !== undefined)
    await listen(figures, options.metricsAddress, log).catch(error => {
      server.close();
      throw error;
    });

  let now = () => {};
  const atOnce = new Promise<void>(resolve => {
    now = resolve;
  });
  async function end(): Promise<void> {
    front.ending = true;
    const closed = new Promise<void>(resolve => server.close(() => resolve()));
    await within(graceMs, front.openRequests.idle(), atOnce);
    front.openRequests.abort();
    await endpoint.close();
    await within(lastMs, front.openRequests.idle(), atOnce);
    server.closeIdleConnections();
    await within(lastMs, closed, atOnce);
    server.closeAllConnections();
    await closed;
    figures?.close();
    figures?.closeAllConnections();
    recorder[Symbol.dispose]();
    access[Symbol.dispose]();
  }
  let ended: Promise<void> | undefined;
  return {
    url: urlOf(server, address, options.tls === undefined ? "http" : "https"),
    metricsUrl: figures && options.metricsAddress && urlOf(figures, options.metricsAddress, "http"),
    renew(certificate) {
      if ("setSecureContext" in server) server.setSecureContext(certificate);
    },
    close() {
      if (ended !== undefined) now();
      ended ??= end();
      return ended;
    },
  };
}

type RequestListener = import("node:http").RequestListener;

async function createListener(tls: Certificate | undefined, listener: RequestListener) {
  if (tls === undefined) return limited(createHttpServer(timeouts, listener));
  const { createServer: createHttpsServer } = await import("node:https");
  return limited(createHttpsServer({ ...timeouts, ...tls, minVersion: "TLSv1.2" }, listener));
}

function limited<S extends Server>(server: S): S {
  server.maxConnections = 8192;
  return server;
}

async function listen(server: Server, { host, port }: ListenAddress, log: Log): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  server.on("error", error => log.error("http", error));
}

function urlOf(server: Server, { host }: ListenAddress, scheme: string): string {
  return `${scheme}://${inUrl(host)}:${(server.address() as AddressInfo).port}`;
}

function gauge(name: string, help: string, value: () => number | undefined) {
  return { name, help, value };
}

/** Waits for one of the promises, but not longer. */
async function within(ms: number, ...promises: readonly Promise<void>[]): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>(resolve => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([limit, ...promises]);
  clearTimeout(timer);
}
