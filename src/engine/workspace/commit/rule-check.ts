// Applies the policy to a commit: nothing is moved or copied to a path where more of it would be visible, no
// protected file goes with its directory, and an edit of a masked file gets the hidden values back.
import { constants } from "node:fs";
import { Fault } from "../../fault.ts";
import { isAllowed, type Need } from "../../policy/approval.ts";
import { errnoOf } from "../errno.ts";
import { display, Handle } from "../handle.ts";
import type { Rules } from "../rules.ts";
import type { Address } from "../system/held.ts";
import type { CommitOptions, Expectation } from "./change.ts";
import type { EntryRef, HeldDirectories } from "./held-directories.ts";
import type { ResolvedChange, ResolvedChanges } from "./resolved-changes.ts";
import { readAll, sys } from "./syscalls.ts";

/** Checks and completes the changes of a draft, under its locks. */
export function applyRules(draft: ResolvedChanges, { unmasked, by, approved = [] }: CommitOptions): void {
  const needs: Need[] = [];
  for (const [i, one] of draft.changes.entries()) {
    const path = one.source?.path ?? one.target?.path;
    if (path === undefined || !path.root.rules.restrict) continue;
    const { rules } = path.root;
    checkRelocation(one, draft.places, rules);
    needs.push(...openNeeds(one, draft.places, rules, by?.client ?? ""));
    if (!unmasked) draft.changes[i] = withHiddenValues(one, draft.places, rules);
  }
  const missing = needs.filter(need => !isAllowed(need, approved));
  const [first] = missing;
  if (first === undefined) return;
  const proposed = draft.changes.slice(0, mostProposed).flatMap(proposal);
  throw new Fault("approval_needed", { path: first.at, needs: missing, proposed });
}

/** So many changes are shown to the person who is asked. */
const mostProposed = 20;

function proposal({ change, source, target }: ResolvedChange) {
  if (target === undefined) return [];
  const bytes = "bytes" in change ? change.bytes : undefined;
  return [
    {
      at: target.at,
      ...(source !== undefined && { from: source.at }),
      ...(bytes !== undefined && { bytes }),
      ...(change.kind === "remove" && { removes: true }),
    },
  ];
}

/** What needs a person's approval: every removed file, and every written one. */
function openNeeds(
  { change, source, target }: ResolvedChange,
  places: HeldDirectories,
  rules: Rules,
  client: string,
): Need[] {
  if (target === undefined || change.kind === "mkdir") return [];
  const needs: (Need | undefined)[] = [];
  if (change.kind !== "remove") needs.push(rules.open(target.at, "write", client));
  const leaving = change.kind === "remove" ? target : source;
  const question = change.kind === "remove" ? "delete" : "write";
  if (leaving !== undefined)
    for (const at of pathsIn(places.address(leaving.entry), leaving.at))
      needs.push(rules.open(at, question, client));
  return needs.filter(need => need !== undefined);
}

function* pathsIn(address: Address, at: string): Generator<string> {
  yield at;
  const directory = directoryAt(address);
  if (directory === undefined) return;
  using _ = directory;
  for (const name of sys.names(directory.address))
    yield* pathsIn(directory.below(name), `${at}/${display(name.toString("latin1"))}`);
}

const rank = { none: 0, masked: 1, full: 2 } as const;

function checkRelocation(
  { change, source, target, original }: ResolvedChange,
  places: HeldDirectories,
  rules: Rules,
): void {
  const given = (source ?? target)?.path.given ?? "";
  if (change.kind === "move" && source !== undefined && target !== undefined)
    checkTree(places.address(source.entry), source.at, target.at, rules, given, true);
  else if (change.kind === "copy" && original !== undefined && target !== undefined)
    checkTree(`${original.handle.address}/.`, original.at, target.at, rules, given, false);
  else if (change.kind === "remove" && target !== undefined)
    checkTree(places.address(target.entry), target.at, undefined, rules, given, true);
}

/** Checks everything below `at` against the rules for its current and its new path. */
function checkTree(
  address: Address,
  at: string,
  to: string | undefined,
  rules: Rules,
  given: string,
  leaves: boolean,
): void {
  const here = rules.decide(at);
  if (leaves ? !here.changes : here.contents === "none")
    throw new Fault("forbidden", { path: given, rule: here.rule ?? "", to: leaves ? "change" : "open" });
  if (to !== undefined && rank[rules.decide(to).contents] > rank[here.contents])
    throw new Fault("forbidden", { path: given, rule: here.rule ?? "", to: "mask" });
  const directory = directoryAt(address);
  if (directory === undefined) return;
  using _ = directory;
  for (const name of sys.names(directory.address)) {
    const shown = display(name.toString("latin1"));
    checkTree(directory.below(name), `${at}/${shown}`, to && `${to}/${shown}`, rules, given, leaves);
  }
}

function directoryAt(address: Address): Handle | undefined {
  try {
    const handle = Handle.open(address, { follow: false });
    if (handle.stat().isDirectory()) return handle;
    handle.close();
    return undefined;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined; // the commit itself finds out that it is not there
  }
}

function withHiddenValues(one: ResolvedChange, places: HeldDirectories, rules: Rules): ResolvedChange {
  const { change } = one;
  const from = one.source ?? one.target;
  if (from === undefined || (change.kind !== "write" && change.kind !== "move")) return one;
  if (rules.decide(from.at).contents !== "masked") return one;
  const given = from.path.given;
  const expect = change.expect && seenThrough(change.expect, bytes => rules.shown(from.at, bytes, given));
  const changed = { ...change, ...(expect && { expect }) };
  if (change.bytes === undefined) return { ...one, change: changed };
  const current = Buffer.isBuffer(one.base) ? one.base : fileBytes(places, from.entry);
  const bytes = rules.restored(from.at, current, change.bytes, given);
  return { ...one, change: { ...changed, bytes }, base: one.base ?? current ?? "absent" };
}

/** A caller's expectation is about the masked text that it was shown. */
function seenThrough(expect: Expectation, shown: (bytes: Buffer) => Buffer): Expectation {
  if (expect === "absent") return expect;
  if (typeof expect === "function") return bytes => expect(shown(bytes));
  return bytes => shown(bytes).equals(expect) || bytes.equals(expect);
}

function fileBytes(places: HeldDirectories, entry: EntryRef): Buffer | undefined {
  if (places.isNew(entry.place) || !sys.lstat(places.address(entry))?.isFile()) return undefined;
  const fd = sys.open(
    places.address(entry),
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  );
  try {
    return readAll(fd);
  } finally {
    sys.close(fd);
  }
}
