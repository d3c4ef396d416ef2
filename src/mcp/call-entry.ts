// A call as an entry of the audit log. The text is put together here: JSON.stringify takes three times as long for an
// object of so many short members, and every call has one.
import type { Uncovered } from "../engine/history/uncovered.ts";
import type { Root } from "../engine/workspace/root.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";
import { shortened } from "../host/audit-bounds.ts";
import { auditJson } from "../host/audit-json.ts";
import { beginning } from "../host/masked-tokens.ts";
import { auditedChanges } from "./audited-change.ts";
import type { Caller } from "./method.ts";
import { decisionOf, type RecordedCall } from "./recorded-call.ts";

/** The origin of a call, and its dialect. */
export interface CallOrigin {
  /** The name of its token; absent if callers are not identified. */
  readonly caller?: string;
  readonly address?: string;
  readonly dialect: string;
  readonly workspace: Workspace;
  readonly bytesIn: number;
}

interface CallResult {
  readonly outcome: string;
  readonly bytesOut: number;
  readonly ms: number;
  readonly changes: readonly string[];
}

const longestPaths = 4096;
const longestAbout = 1024;
/** Of each kind of changes that the history does not cover. */
const longestUncovered = 1024;
/** A character has no more bytes as JSON. */
const mostBytesOfCharacter = 6;
/** Clients choose it; a longer one would push the lines of others out of the log. */
const longestId = 200;

/** The members of a JSON object. */
export function callEntry(
  { caller, address, dialect, workspace, bytesIn }: CallOrigin,
  { name, paths, about, trace }: RecordedCall,
  { id, session, fault, uncovered }: Pick<Caller, "id" | "session" | "fault" | "uncovered">,
  { outcome, bytesOut, ms, changes }: CallResult,
): string {
  return (
    `"event":"call"${member("caller", caller)}${member("client", session.client)}${member("address", address)}` +
    `${member("request", id && beginning(id, longestId))}${member("trace", trace)}${member("dialect", dialect)}${member("tool", name)}` +
    `,"workspace":${rootsOf(workspace.roots)},"paths":[${pathsOf(paths)}]${aboutOf(about)}` +
    `,"decision":"${decisionOf(fault)}"${member("outcome", outcome)}${member("fault", fault)}` +
    `,"bytesIn":${bytesIn},"bytesOut":${bytesOut},"ms":${Math.round(ms * 10) / 10}` +
    `,"changes":${changes.length === 0 ? "[]" : auditJson(auditedChanges(workspace, changes))}` +
    uncoveredOf(uncovered)
  );
}

function member(name: string, value: string | undefined): string {
  return value === undefined ? "" : `,"${name}":${quoted(value)}`;
}

/** What JSON escapes, and everything that is not ASCII: lone surrogates are escaped too. */
const special = /[^ !#-[\]-~]/;

function quoted(text: string): string {
  return special.test(text) ? auditJson(text) : `"${text}"`;
}

function pathsOf(paths: readonly string[]): string {
  let length = 0;
  for (const path of paths) length += path.length + 1;
  if (length * mostBytesOfCharacter <= longestPaths) return paths.map(quoted).join();
  return auditJson(shortened(paths, longestPaths)).slice(1, -1);
}

function aboutOf(about: RecordedCall["about"]): string {
  return about === undefined ? "" : `,"about":${auditJson(shortened(about, longestAbout))}`;
}

/** The kinds that there are, if any. */
function uncoveredOf(uncovered: Uncovered = {}): string {
  const kinds = Object.entries(uncovered).filter(([, paths]) => paths.length > 0);
  if (kinds.length === 0) return "";
  const shown = kinds.map(([kind, paths]) => [kind, shortened(paths, longestUncovered)]);
  return `,"uncovered":${auditJson(Object.fromEntries(shown))}`;
}

const knownRoots = new WeakMap<readonly Root[], string>();

function rootsOf(roots: readonly Root[]): string {
  let text = knownRoots.get(roots);
  if (text === undefined) {
    text = auditJson(roots.map(({ path }) => path));
    knownRoots.set(roots, text);
  }
  return text;
}
