// Grants: temporary approvals of what the policy asks about. One JSON file in the configuration directory, beside the
// policy; servers reread it when it changes, so a grant takes effect with the next call.
import { clock } from "../../engine/clock.ts";
import { Fault } from "../../engine/fault.ts";
import type { ApprovalGrant } from "../../engine/policy/approval.ts";
import type { AskedAction } from "../../engine/policy/rule.ts";
import { readNamedFile, replaceNamedFile } from "../../engine/workspace/system/named-file.ts";
import { parseStrictJson } from "../../host/strict-json.ts";
import { WatchedFile } from "../../host/watched-file.ts";
import { fileProblem } from "../../mcp/file-problem.ts";
import type { Log } from "../../mcp/log.ts";
import { UsageError } from "../usage-error.ts";

/** A grant with the name under which it is listed and revoked. */
export interface NamedGrant extends ApprovalGrant {
  readonly id: string;
}

const questions: readonly AskedAction[] = ["write", "delete", "run"];
const recheckMs = 100;

/** The grants of a file; none if it does not exist. Throws a UsageError if it is malformed. */
export function readGrants(file: string): NamedGrant[] {
  try {
    return parse(readNamedFile(file));
  } catch (error) {
    if (Fault.is(error, "not_found")) return [];
    throw new UsageError(`the grants in ${file} cannot be read`);
  }
}

export function writeGrants(file: string, grants: readonly NamedGrant[]): void {
  const now = Date.now();
  const kept = grants.filter(({ expires }) => expires === undefined || expires > now);
  replaceNamedFile(file, `${JSON.stringify({ grants: kept }, undefined, 2)}\n`);
}

/** The current grants. A file that cannot be read grants nothing. */
export function watchGrants(file: string, log: Log): () => readonly ApprovalGrant[] {
  const watched = new WatchedFile(file);
  let grants: readonly ApprovalGrant[] = [];
  let checked = Number.NEGATIVE_INFINITY;
  return () => {
    const now = clock();
    if (now - checked < recheckMs) return grants;
    checked = now;
    try {
      const change = watched.changed();
      if (change !== undefined) grants = change.text === undefined ? [] : parse(change.text);
    } catch (error) {
      grants = [];
      log.error(`the grants in ${file} cannot be read and do not apply`, fileProblem(error));
    }
    return grants;
  };
}

function parse(text: string): NamedGrant[] {
  const { grants } = parseStrictJson(text) as { grants: NamedGrant[] };
  const isGrant = ({ id, at, question, client, expires }: NamedGrant) =>
    typeof id === "string" &&
    typeof at === "string" &&
    questions.includes(question) &&
    (client === undefined || typeof client === "string") &&
    (expires === undefined || typeof expires === "number");
  if (!Array.isArray(grants) || !grants.every(isGrant)) throw new Error("not a list of grants");
  return grants;
}
