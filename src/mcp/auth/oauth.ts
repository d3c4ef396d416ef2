// Access by tokens of an authorization server (OAuth 2.1, as a resource server): signed by its keys, for our own
// URL, and not expired. Scopes say what may be done; a claim may name directories, and can only narrow. We issue
// no tokens and pass none on.
import { errors, type JWTPayload, jwtVerify } from "jose";
import { LruMap } from "../../engine/lru-map.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import { fileProblem } from "../file-problem.ts";
import { Refusal } from "../http/refusal.ts";
import type { Log } from "../log.ts";
import { type Authenticator, bearer } from "./authenticator.ts";
import { Issuer } from "./issuer.ts";
import { Principal } from "./principal.ts";
import { permits, type Reach, reachOf, type TokenEffect } from "./reach.ts";
import { rootsClaimed } from "./roots-claim.ts";
import { digest } from "./tokens-file.ts";

export interface OAuthOptions {
  readonly issuer: string;
  /** Our own URL, as clients know it. */
  readonly audience: string;
  /** The claim that names directories. */
  readonly rootsClaim: string;
  /** The claim that names the only workspace. */
  readonly workspaceClaim?: string | undefined;
  readonly workspace: Workspace;
  readonly log: Log;
  readonly perMinute?: number;
  readonly concurrency?: number;
}

const scopeOf: Readonly<Record<TokenEffect, string>> = {
  reads: "files:read",
  writes: "files:write",
  runs: "commands:run",
  reviews: "changes:review",
};
const effects: readonly TokenEffect[] = ["reads", "writes", "runs", "reviews"];
const algorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];

interface Verified {
  readonly claims: JWTPayload;
  readonly expires: number;
}

export class OAuth implements Authenticator {
  readonly documents: ReadonlyMap<string, string>;
  readonly #options: OAuthOptions;
  readonly #issuer: Issuer;
  readonly #metadataUrl: string;
  /** By the hash of the token, so that none is kept. */
  readonly #verified = new LruMap<string, Verified>(1000);
  readonly #principals = new LruMap<string, Principal>(500, principal => principal.retire());

  /** Throws if a URL is none that can be used. */
  constructor(options: OAuthOptions) {
    this.#options = options;
    this.#issuer = new Issuer(options.issuer);
    const { origin, pathname } = new URL(options.audience);
    const place = "/.well-known/oauth-protected-resource";
    const path = pathname.replace(/\/$/, "");
    this.#metadataUrl = `${origin}${place}${path}`;
    // RFC 9728: what clients read to find out where tokens come from.
    const metadata = JSON.stringify({
      resource: options.audience,
      authorization_servers: [options.issuer],
      scopes_supported: effects.map(effect => scopeOf[effect]),
      bearer_methods_supported: ["header"],
      resource_name: "polyfs",
    });
    this.documents = new Map([
      [place, metadata],
      [`${place}${path}`, metadata],
    ]);
  }

  async identify(authorization: string | undefined): Promise<Principal> {
    const token = bearer(authorization);
    if (token === undefined) throw this.#challenge(401, "Unauthorized: send an access token");
    const key = digest(token).toString("base64url");
    const known = this.#verified.get(key);
    const { claims, expires } = known ?? (await this.#verify(token));
    if (known === undefined) this.#verified.set(key, { claims, expires });
    if (expires <= Date.now()) throw this.#invalid("the token has expired");
    return this.#principal(claims, expires);
  }

  [Symbol.dispose](): void {
    this.#principals.clear();
  }

  async #verify(token: string): Promise<Verified> {
    const { issuer, audience, log } = this.#options;
    try {
      const keys = await this.#issuer.keys();
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        audience,
        algorithms,
        requiredClaims: ["exp", "sub"],
        clockTolerance: 5,
      });
      return { claims: payload, expires: Number(payload.exp) * 1000 + 5000 };
    } catch (error) {
      if (error instanceof errors.JWTExpired) throw this.#invalid("the token has expired");
      if (error instanceof errors.JWTClaimValidationFailed)
        throw this.#invalid(`the token's "${error.claim}" is not for this server`);
      if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout))
        throw this.#invalid("the token is not valid");
      log.error(`the keys of ${issuer} cannot be fetched`, error);
      throw new Refusal(503, "The authorization server cannot be reached", {
        headers: { "retry-after": "5" },
      });
    }
  }

  #principal(claims: JWTPayload, expires: number): Principal {
    const { rootsClaim, workspaceClaim = "polyfs_workspace", perMinute, concurrency } = this.#options;
    const scopes = scopesOf(claims);
    const granted = effects.filter(effect => scopes.includes(scopeOf[effect]));
    if (granted.length === 0)
      throw this.#insufficient("Forbidden: the token has none of this server's scopes", "reads");
    const { sub: subject } = claims;
    if (typeof subject !== "string" || subject === "")
      throw this.#invalid('the token\'s "sub" is not a name');
    // A claim that is null is present.
    const roots = Object.hasOwn(claims, rootsClaim) ? [claims[rootsClaim]] : [];
    const only = this.#workspaceClaimed(claims, workspaceClaim);
    const key = JSON.stringify([subject, granted, roots, only]);
    const known = this.#principals.get(key);
    if (known !== undefined && !known.ended) {
      known.lastUntil(expires);
      return known;
    }
    const principal = new Principal({
      owner: `subject ${subject}`,
      name: subject,
      ...this.#reach(roots, granted),
      reach:
        roots.length > 0
          ? undefined
          : { access: granted.includes("writes") ? "read-write" : "read-only", only },
      expires,
      perMinute,
      concurrency,
      reviews: granted.includes("reviews") ? this.#reviewed(roots) : undefined,
      browses: granted.includes("reads"),
      permits: permits(granted),
      refuse: tool =>
        this.#insufficient(`Forbidden: ${tool.name} needs the scope ${scopeOf[tool.effect]}`, tool.effect),
    });
    this.#principals.set(key, principal);
    return principal;
  }

  /** A claim that is there and names none is a mistake, not a permission for all. */
  #workspaceClaimed(claims: JWTPayload, name: string): string | undefined {
    if (!Object.hasOwn(claims, name)) return undefined;
    const claimed = claims[name];
    if (typeof claimed === "string" && /^[A-Za-z0-9][\w.-]{0,63}$/.test(claimed)) return claimed;
    throw new Refusal(403, `Forbidden: the token's "${name}" is not the name of a workspace`);
  }

  /** The page undoes what agents did, whatever the token's own tools may do. */
  #reviewed(claims: readonly unknown[]): Workspace {
    const { workspace, narrowed } = this.#reach(claims, ["writes"]);
    return narrowed ? workspace : workspace.under({ current: () => [] });
  }

  /** `claims` holds the claim that names directories, where there is one. */
  #reach(claims: readonly unknown[], granted: readonly TokenEffect[]): Reach {
    const { workspace, log } = this.#options;
    try {
      return reachOf(workspace, claims.length === 0 ? undefined : rootsClaimed(claims[0]), granted);
    } catch (error) {
      log.warn("the directories that a token names cannot be served", fileProblem(error));
      throw new Refusal(403, "Forbidden: the directories that the token names are not served");
    }
  }

  #invalid(problem: string): Refusal {
    return this.#challenge(
      401,
      `Unauthorized: ${problem}`,
      `error="invalid_token", error_description="${problem.replaceAll('"', "'")}"`,
    );
  }

  #insufficient(message: string, effect: TokenEffect): Refusal {
    return this.#challenge(403, message, `error="insufficient_scope", scope="${scopeOf[effect]}"`);
  }

  #challenge(status: number, message: string, details?: string): Refusal {
    const parts = [...(details === undefined ? [] : [details]), `resource_metadata="${this.#metadataUrl}"`];
    return new Refusal(status, message, { headers: { "www-authenticate": `Bearer ${parts.join(", ")}` } });
  }
}

function scopesOf({ scope, scp }: JWTPayload): readonly unknown[] {
  const stated = scope ?? scp;
  return typeof stated === "string" ? stated.split(" ") : Array.isArray(stated) ? stated : [];
}
