// Where to listen: `PORT`, `HOST:PORT` or `[IPV6]:PORT`. Without a host it is this machine alone.
import { isIPv4 } from "node:net";

export interface ListenAddress {
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
  /** A socket that listens already, and was handed over: host and port are its own. */
  readonly descriptor?: number;
}

/** The first descriptor that systemd hands over. */
const firstHandedOver = 3;

/** The socket that systemd hands over to this process (`man sd_listen_fds`); undefined if it does not. */
export function handedOver({ LISTEN_PID, LISTEN_FDS }: NodeJS.ProcessEnv): ListenAddress | undefined {
  if (LISTEN_PID !== String(process.pid) || !(Number(LISTEN_FDS) >= 1)) return undefined;
  return { host: "0.0.0.0", port: 0, descriptor: firstHandedOver };
}

/** Undefined if the text is not an address. */
export function parseAddress(text: string): ListenAddress | undefined {
  const [, bracketed, plain, digits = ""] = /^(?:\[([^\]]+)\]:|([^:[\]]*):)?(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === "" || port > 65_535) return undefined;
  return { host: bracketed ?? (plain || "127.0.0.1"), port };
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}

/** All addresses of the machine at once. */
export function isWildcard(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

/** In the form used in URLs. */
export function inUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
