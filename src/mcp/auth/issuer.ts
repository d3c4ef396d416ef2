// An authorization server: its keys, found through its published metadata. Fetched with the first token, and again
// after a failure; never over plain HTTP to another machine.
import { createRemoteJWKSet, type JWTVerifyGetKey } from "jose";
import { isLoopback } from "../http/listen-address.ts";
import { isRecord } from "../jsonrpc.ts";

const timeoutMs = 5000;
const maxMetadataBytes = 1024 * 1024;

export class Issuer {
  readonly #url: URL;
  readonly #name: string;
  #keys: Promise<JWTVerifyGetKey> | undefined;

  /** Throws if the URL is none that can be trusted. */
  constructor(name: string) {
    this.#name = name;
    this.#url = trusted(name);
  }

  async keys(): Promise<JWTVerifyGetKey> {
    this.#keys ??= this.#discover();
    try {
      return await this.#keys;
    } catch (error) {
      this.#keys = undefined;
      throw error;
    }
  }

  async #discover(): Promise<JWTVerifyGetKey> {
    const { origin, pathname } = this.#url;
    const path = pathname.replace(/\/$/, "");
    const places = [
      `${origin}/.well-known/oauth-authorization-server${path}`,
      `${origin}/.well-known/openid-configuration${path}`,
      `${origin}${path}/.well-known/openid-configuration`,
    ];
    for (const place of new Set(places)) {
      const metadata = await fetchJson(place);
      if (metadata === undefined) continue;
      const { issuer, jwks_uri: keys } = metadata;
      if (issuer !== this.#name) throw new Error(`${place} is about ${String(issuer)}, not ${this.#name}`);
      if (typeof keys !== "string") throw new Error(`${place} names no keys (jwks_uri)`);
      return createRemoteJWKSet(trusted(keys), { timeoutDuration: timeoutMs });
    }
    throw new Error(`${this.#name} publishes no metadata`);
  }
}

/** Undefined if there is nothing at this URL. */
async function fetchJson(url: string): Promise<Record<string, unknown> | undefined> {
  const response = await fetch(url, {
    headers: { accept: "application/json" },
    redirect: "error",
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (!response.ok) {
    await response.body?.cancel();
    return undefined;
  }
  const text = await response.text();
  if (text.length > maxMetadataBytes) throw new Error(`${url} is too long`);
  const value: unknown = JSON.parse(text);
  return isRecord(value) ? value : undefined;
}

/** Keys that came over a plain connection prove nothing, unless it never left the machine. */
function trusted(text: string): URL {
  const url = new URL(text);
  const local = url.protocol === "http:" && isLoopback(url.hostname.replace(/^\[|\]$/g, ""));
  if (url.protocol !== "https:" && !local) throw new Error(`${text} must begin with https:`);
  return url;
}
