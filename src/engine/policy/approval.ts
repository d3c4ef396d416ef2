// What a person has allowed although a rule asks about it: as a grant with an end, or for one call.
import { isClientNamed } from "../client-name.ts";
import type { AskedAction } from "./rule.ts";

/** Something that a rule asks about. */
export interface Need {
  /** Absolute path. */
  readonly at: string;
  readonly question: AskedAction;
  /** The rule that asks. */
  readonly rule?: string | undefined;
}

/** What a person has allowed: one thing, or with `anywhere` whatever the same rule asks in the same way. */
export interface Allowed extends Need {
  readonly anywhere?: boolean;
}

export function isAllowed({ at, question, rule }: Need, allowed: readonly Allowed[]): boolean {
  return allowed.some(
    one =>
      one.question === question &&
      (one.at === at || (one.anywhere === true && rule !== undefined && one.rule === rule)),
  );
}

export interface ApprovalGrant extends Omit<Need, "rule"> {
  /** The client that it is for; every client if absent. */
  readonly client?: string | undefined;
  /** Milliseconds since 1970. */
  readonly expires?: number | undefined;
}

/** A grant applies to its path and everything below it. One for a client applies to every name of that client. */
export function covers(grant: ApprovalGrant, { at, question }: Need, client: string, now: number): boolean {
  return (
    grant.question === question &&
    (grant.expires === undefined || now < grant.expires) &&
    (grant.client === undefined || isClientNamed(client, grant.client)) &&
    (at === grant.at || at.startsWith(grant.at.endsWith("/") ? grant.at : `${grant.at}/`))
  );
}
