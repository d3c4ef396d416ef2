// Which requests are accepted, by headers that browsers do not let pages forge: the Host (a page whose name was pointed
// at this machine still sends its own) and the Origin. Both are exact lists. Of some requests (links, images) browsers
// leave the Origin out, and say in Sec-Fetch-Site that they are for another site's page.
import { networkInterfaces } from "node:os";
import { inUrl, isLoopback, isWildcard, type ListenAddress } from "./listen-address.ts";
import { Refusal } from "./refusal.ts";

export interface HostCheckOptions {
  readonly address: ListenAddress;
  /** Further names that we are addressed by: `name`, or `name:port`. */
  readonly hosts?: readonly string[];
  /** Further origins of pages: `https://name`. */
  readonly origins?: readonly string[];
}

const loopbackNames = ["localhost", "127.0.0.1", "[::1]"];

export class HostCheck {
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;

  constructor({ address: { host }, hosts = [], origins = [] }: HostCheckOptions) {
    const own = isLoopback(host) || isWildcard(host) ? loopbackNames : [];
    const bound = isWildcard(host) ? machineAddresses() : [inUrl(host)];
    this.#hosts = new Set([...own, ...bound, ...hosts].map(name => name.toLowerCase()));
    this.#origins = new Set(origins.map(origin => origin.toLowerCase()));
  }

  /** Throws if the request is not for us, or from a page that we do not know. */
  check(host: string | undefined, origin: string | undefined): void {
    const name = host?.toLowerCase() ?? "";
    if (!this.#hosts.has(name) && !this.#hosts.has(name.replace(/:\d+$/, ""))) {
      throw new Refusal(403, "Forbidden: this server does not accept that Host (see --allow-host)");
    }
    if (origin !== undefined && !this.#knows(origin, name)) {
      throw new Refusal(403, "Forbidden: requests from that Origin are not accepted (see --allow-origin)");
    }
  }

  /** Throws if a page of another site sends the request. One that we know sends its Origin. */
  checkSite(origin: string | undefined, site: unknown): void {
    if (origin === undefined && (site === "cross-site" || site === "same-site"))
      throw new Refusal(403, "Forbidden: requests from pages of other sites are not accepted");
  }

  /** What lets a page that we know read the answers. */
  headersFor(origin: string | undefined): Record<string, string> {
    if (origin === undefined) return {};
    return {
      "access-control-allow-origin": origin,
      "access-control-expose-headers": "mcp-session-id, www-authenticate",
      vary: "Origin",
    };
  }

  /** Another port of the same machine is another origin: any page can be served there. */
  #knows(origin: string, host: string): boolean {
    const given = origin.toLowerCase();
    return this.#origins.has(given) || given === `http://${host}` || given === `https://${host}`;
  }
}

/** None where a sandbox hides them (systemd's RestrictAddressFamilies= without AF_NETLINK): then names must be given. */
function machineAddresses(): string[] {
  try {
    const interfaces = Object.values(networkInterfaces());
    return interfaces.flatMap(all => (all ?? []).map(({ address }) => inUrl(address)));
  } catch {
    return [];
  }
}
