// Who may look at a page, by a cookie. It is given for a one-time token in the address, or for a token of an HTTP
// server; it lives in memory, so it ends with the process.
import { randomBytes, timingSafeEqual } from "node:crypto";
import type { ConnectionEnds } from "../../host/peer-user.ts";
import type { Viewer } from "../viewer.ts";

/**
 * Looks a signed-in browser up again, for the page of the workspace `place`, or for the page at /review/ itself.
 * Undefined if it may not see that page, or not any more.
 */
export type Lookup = (place: string | undefined) => Viewer | undefined | Promise<Viewer | undefined>;

interface OneTimeTicket {
  readonly token: Buffer;
  readonly lookup: Lookup;
  isFor(ends: ConnectionEnds): boolean;
}

interface SignIn {
  /** The header that the browser is sent. */
  readonly cookie: string;
  readonly lookup: Lookup;
}

const mostSessions = 1000;
const cookieName = "polyfs-review";

export class Entrance {
  readonly #sessions = new Map<string, Lookup>();
  #tickets: OneTimeTicket[] = [];

  /** A token that lets one browser in, once. `isFor` says whether it is for the program at the other end. */
  ticket(lookup: Lookup, isFor: OneTimeTicket["isFor"] = () => true): string {
    const token = randomBytes(32).toString("base64url");
    this.#tickets.push({ token: Buffer.from(token), lookup, isFor });
    return token;
  }

  /** Signs a browser in for a one-time token. A token presented by another user stays valid. */
  redeem(given: string, ends: ConnectionEnds, options: CookieOptions): SignIn | undefined {
    const presented = Buffer.from(given);
    const found = this.#tickets.find(
      ({ token }) => token.length === presented.length && timingSafeEqual(token, presented),
    );
    if (found === undefined || !found.isFor(ends)) return undefined;
    this.#tickets = this.#tickets.filter(one => one !== found);
    return { cookie: this.admit(found.lookup, options), lookup: found.lookup };
  }

  /** The header that signs a browser in. */
  admit(lookup: Lookup, { port, secure }: CookieOptions): string {
    const value = randomBytes(32).toString("base64url");
    this.#sessions.set(value, lookup);
    for (const oldest of this.#sessions.keys()) {
      if (this.#sessions.size <= mostSessions) break;
      this.#sessions.delete(oldest);
    }
    return `${cookieName}-${port}=${value}; Path=/review/; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`;
  }

  /** How to look up the browser that sends these cookies. */
  find(cookies: string | undefined, port: number): Lookup | undefined {
    const name = `${cookieName}-${port}=`;
    const values = (cookies ?? "").split(";").map(one => one.trim());
    const value = values.find(one => one.startsWith(name))?.slice(name.length);
    return value === undefined ? undefined : this.#sessions.get(value);
  }
}

export interface CookieOptions {
  /** Cookies are sent to every port of a host: the name distinguishes pages. */
  readonly port: number;
  readonly secure: boolean;
}
