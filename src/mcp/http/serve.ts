// MCP over HTTP for many clients. Listens until shutdown; then accepts nothing new, lets running calls finish for a
// while, and stops the rest.
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Server, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { mostOpenFiles } from "../../engine/workspace/system/open-files.ts";
import type { Log } from "../log.ts";
import { inUrl, isLoopback, type ListenAddress } from "./listen-address.ts";
import { createService, lastMs, type ServiceOptions, within } from "./service.ts";

export interface HttpOptions extends Omit<ServiceOptions, "separateFigures"> {
  /** Whether callers are identified. If not, the address must be a loopback address. */
  readonly authenticated: boolean;
  /** HTTPS with this certificate and key. */
  readonly tls?: Certificate;
  /** A separate address for metrics, without authentication. */
  readonly metricsAddress?: ListenAddress;
  /** How long calls may continue after shutdown begins. */
  readonly graceMs?: number;
}

/** In PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface HttpService {
  /** Its URL without a path. */
  readonly url: string;
  readonly metricsUrl?: string;
  /** Uses a new certificate for new connections. Throws if it is invalid. */
  renew(certificate: Certificate): void;
  /** Takes nothing new, finishes what runs, and ends. Called again, it ends at once. */
  close(): Promise<void>;
}

const timeouts = { keepAliveTimeout: 65_000, headersTimeout: 20_000, requestTimeout: 120_000 };
const tlsVersions = { minVersion: "TLSv1.2" } as const;
/** Every refusal is ours, for the record; also that of a request without a Host. */
const refusals = { requireHostHeader: false };

export async function serveHttp(options: HttpOptions): Promise<HttpService> {
  const { address, log, graceMs = 30_000 } = options;
  if (!options.authenticated && !isLoopback(address.host)) {
    throw new Error(`without authentication only this machine is served, not ${address.host}`);
  }
  const service = createService({ ...options, separateFigures: options.metricsAddress !== undefined });
  const { front } = service;

  const server = await createListener(
    options.tls,
    (request, response) => void front.handle(request, response),
  );
  // A socket keeps an address that was asked for, also when its connection has been reset: for the record.
  for (const event of ["connection", "secureConnection"])
    server.on(event, ({ remoteAddress }: Socket) => remoteAddress);
  server.on("clientError", (error, socket) => front.handleBroken(error, socket));
  server.on("connect", (request: IncomingMessage, socket: Duplex) => front.handleConnect(request, socket));
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) =>
    front.handleExpectation(request, response),
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
    const closed = new Promise<void>(resolve => server.close(() => resolve()));
    await service.drain(graceMs, atOnce);
    server.closeIdleConnections();
    await within(lastMs, closed, atOnce);
    server.closeAllConnections();
    await closed;
    figures?.close();
    figures?.closeAllConnections();
    service[Symbol.dispose]();
  }
  let ended: Promise<void> | undefined;
  return {
    url: urlOf(server, address, options.tls === undefined ? "http" : "https"),
    metricsUrl: figures && options.metricsAddress && urlOf(figures, options.metricsAddress, "http"),
    renew(certificate) {
      if ("setSecureContext" in server) server.setSecureContext({ ...certificate, ...tlsVersions });
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
  if (tls === undefined) return limited(createHttpServer({ ...timeouts, ...refusals }, listener));
  const { createServer: createHttpsServer } = await import("node:https");
  return limited(createHttpsServer({ ...timeouts, ...refusals, ...tls, ...tlsVersions }, listener));
}

/** Connections come before authentication: half of the descriptors stay free for the files of calls. */
function limited<S extends Server>(server: S): S {
  server.maxConnections = Math.min(8192, Math.floor((mostOpenFiles() ?? Number.POSITIVE_INFINITY) / 2));
  return server;
}

async function listen(server: Server, { host, port, descriptor }: ListenAddress, log: Log): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(descriptor === undefined ? { port, host } : { fd: descriptor }, () => {
      server.off("error", reject);
      resolve();
    });
  });
  server.on("error", error => log.error("http", error));
}

function urlOf(server: Server, { host, descriptor }: ListenAddress, scheme: string): string {
  const bound = server.address() as AddressInfo;
  return `${scheme}://${inUrl(descriptor === undefined ? host : bound.address)}:${bound.port}`;
}
