// How callers are identified: not at all (this machine only), by tokens of a file, or by tokens of an authorization
// server.
import type { Workspace } from "../../engine/workspace/workspace.ts";
import { Refusal } from "../http/refusal.ts";
import { Principal } from "./principal.ts";

export interface Authenticator extends Disposable {
  /** Whose request it is, by its Authorization header. Throws a `Refusal`. */
  identify(authorization: string | undefined): Principal | Promise<Principal>;
  /** Looks whether the grants have changed. */
  refresh?(): void;
  /** Public documents, by path. */
  readonly documents: ReadonlyMap<string, string>;
}

/** Every caller may do everything that is served. */
export function openAccess(
  workspace: Workspace,
  { concurrency, perMinute }: { readonly concurrency?: number; readonly perMinute?: number } = {},
): Authenticator {
  const anonymous = new Principal({
    owner: "",
    workspace,
    narrowed: false,
    ...(concurrency !== undefined && { concurrency }),
    ...(perMinute !== undefined && { perMinute }),
    reviews: workspace,
    reach: { access: "read-write" },
    browses: true,
    permits: () => true,
    refuse: () => new Refusal(403, "Forbidden"),
  });
  return { identify: () => anonymous, documents: new Map(), [Symbol.dispose]() {} };
}

/** The token in an Authorization header. */
export function bearer(authorization: string | undefined): string | undefined {
  return /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i.exec(authorization ?? "")?.[1];
}
