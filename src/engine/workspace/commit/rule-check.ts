// Applies the policy to a commit:
//
//   - A move or a copy must not show a byte that is hidden at its old path (`Rules.exposes`).
//   - A protected file is not removed with its directory, and none is put where no file may be written.
//   - An edit of a masked file gets the hidden values back.
//   - A text that history or a merge makes of several texts shows no part that is hidden in one of them.
//   - While a sandbox shows a directory, a path that the sandbox covers is not replaced, moved or created: the cover
//     would come off, or be missing.
import { constants } from "node:fs";
import { Fault } from "../../fault.ts";
import { isAllowed, type Need } from "../../policy/approval.ts";
import type { EntryRef, HeldDirectories } from "../disk/held-directories.ts";
import { readAll, sys } from "../disk/syscalls.ts";
import { isAbsence } from "../errno.ts";
import { type RunningSandbox, runningSandboxes } from "../footprint/running-commands.ts";
import { TimeSlice } from "../footprint/time-slice.ts";
import { display, Handle } from "../handle.ts";
import { bytesToMask } from "../masked-file.ts";
import type { Rules } from "../rules.ts";
import type { Address } from "../system/held.ts";
import { isRelated } from "../within.ts";
import type { Change, CommitOptions, Expectation } from "./change.ts";
import { ConcurrentChange } from "./concurrent-change.ts";
import type { ResolvedChange, ResolvedChanges } from "./resolved-changes.ts";

/**
 * Checks and completes resolved changes, under their locks. Yields now and then: trees may be large. What others have
 * published (`id`) is made here whatever runs.
 */
export async function applyRules(
  resolvedChanges: ResolvedChanges,
  { unmasked, by, approved = [], id }: CommitOptions,
): Promise<void> {
  const needs: Need[] = [];
  const slice = new TimeSlice();
  const shown = id === undefined ? sandboxesAt(resolvedChanges) : [];
  const covered = new Map<string, string | undefined>(shown.map(({ name }) => [name, undefined]));
  for (const [i, one] of resolvedChanges.changes.entries()) {
    const path = one.source?.path ?? one.target?.path;
    if (path === undefined) continue;
    const { rules } = path.root;
    if (!rules.restrict && shown.length === 0) continue;
    const touch = (at: string) => {
      for (const { name, covers } of shown)
        if (covered.get(name) === undefined && covers(at, rules)) covered.set(name, path.given);
    };
    for (const need of openNeeds(one, resolvedChanges.places, rules, by?.client ?? "", touch, unmasked)) {
      if (need !== undefined) needs.push(need);
      if (slice.isOver) await slice.turn();
    }
    if (unmasked) refuseRevealing(one.change, one.target?.at ?? path.absolute);
    else resolvedChanges.changes[i] = withHiddenValues(one, resolvedChanges.places, rules);
  }
  if (id === undefined) resolvedChanges.sandboxes = covered;
  // One that has begun since is noticed by `refuseUncovering`.
  for (const path of covered.values()) refuseCovered(path);
  const missing = needs.filter(need => !isAllowed(need, approved));
  const [first] = missing;
  if (first === undefined) return;
  const proposed = resolvedChanges.changes.slice(0, mostProposed).flatMap(proposal);
  throw new Fault("approval_needed", { path: first.at, needs: missing, proposed });
}

/** Refuses a change that shows what a rule hides in the texts that it is made of. `to`: the path that it ends at. */
export function refuseRevealing(change: Change, to: string): void {
  if (change.kind !== "write" && change.kind !== "move") return;
  const { origins = [], bytes = origins[0]?.bytes } = change;
  const path = change.kind === "move" ? change.to : change.path;
  if (bytes !== undefined) path.root.rules.admitMade(origins, to, Buffer.from(bytes), path.given);
}

/**
 * Refuses a commit that touches what a sandbox covers now. One that began after the rules were applied may cover any of
 * it: then the commit starts over.
 */
export function refuseUncovering(resolvedChanges: ResolvedChanges): void {
  const { sandboxes } = resolvedChanges;
  if (sandboxes === undefined) return;
  for (const { name } of sandboxesAt(resolvedChanges)) {
    if (!sandboxes.has(name)) throw new ConcurrentChange(resolvedChanges.targets[0]?.path.given ?? "");
    refuseCovered(sandboxes.get(name));
  }
}

function refuseCovered(path: string | undefined): void {
  if (path !== undefined) throw new Fault("locked", { path, by: "command" });
}

/** The sandboxes that show a path of these changes now. */
function sandboxesAt(resolvedChanges: ResolvedChanges): readonly RunningSandbox[] {
  const all = runningSandboxes(resolvedChanges.state);
  if (all.length === 0) return all;
  const { targets } = resolvedChanges;
  return all.filter(({ roots }) => targets.some(({ at }) => roots.some(root => isRelated(at, root))));
}

/** This many changes are shown to the person who is asked. */
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

/**
 * Refuses what the rules forbid, and returns what needs a person's approval: every file that goes, and what is
 * written. Yields after each entry of a tree.
 */
function* openNeeds(
  { change, source, target, original }: ResolvedChange,
  places: HeldDirectories,
  rules: Rules,
  client: string,
  touch: (at: string) => void,
  unmasked = false,
): Generator<Need | undefined> {
  if (target === undefined) return;
  if (change.kind === "mkdir" && places.newAt(target.entry) === undefined) return; // it exists, and nothing is written
  touch(target.at);
  if (change.kind !== "remove") yield rules.open(target.at, "write", client);
  const given = (source ?? target).path.given;
  // What comes with a directory is written at its new path, as if by name.
  const arrival = (below: string) => {
    const to = target.at + below;
    touch(to);
    rules.admitChange(to, target.path.given + below);
    return rules.open(to, "write", client);
  };
  const leaving = change.kind === "remove" ? target : source;
  if (leaving !== undefined) {
    const question = change.kind === "remove" ? "delete" : "write";
    const to = change.kind === "move" ? target.at : undefined;
    const isChecked = change.kind === "remove" || change.kind === "move";
    // New bytes are checked where they get their hidden values, and those of history by their origins.
    const isGiven = unmasked || (change.kind === "move" && change.bytes !== undefined);
    for (const { below, address } of treeAt(places.address(leaving.entry))) {
      const at = leaving.at + below;
      touch(at);
      const read = () => (isGiven && below === "" ? undefined : fileAt(address));
      if (isChecked) checkEntry(at, to === undefined ? undefined : to + below, rules, given, true, read);
      yield rules.open(at, question, client);
      if (to !== undefined && below !== "") yield arrival(below);
    }
  } else if (change.kind === "copy" && original !== undefined)
    for (const { below, address } of treeAt(`${original.handle.address}/.`)) {
      const read = () => (below === "" ? heldFile(original.handle) : fileAt(address));
      checkEntry(original.at + below, target.at + below, rules, given, false, read);
      yield below === "" ? undefined : arrival(below);
    }
}

/** What the rules say about a path, and about where it would be. */
function checkEntry(
  at: string,
  to: string | undefined,
  rules: Rules,
  given: string,
  leaves: boolean,
  read: () => Buffer | undefined,
): void {
  const here = rules.decide(at);
  if (leaves ? !here.changes : here.contents === "none")
    throw new Fault("forbidden", { path: given, rule: here.rule ?? "", to: leaves ? "change" : "open" });
  if (to !== undefined && rules.exposes(at, to, read))
    throw new Fault("forbidden", { path: given, rule: here.rule ?? "", to: "mask" });
}

/** The bytes of a file that may have to be masked; undefined if there is none. */
function fileAt(address: Address): Buffer | undefined {
  return sys.lstat(address)?.isFile() ? bytesToMask(address) : undefined;
}

function heldFile(handle: Handle): Buffer | undefined {
  return handle.stat().isFile() ? bytesToMask(handle.address) : undefined;
}

interface LeavingEntry {
  /** Its path below the top, "" for the top. */
  readonly below: string;
  readonly address: Address;
}

interface OpenLevel {
  readonly handle: Handle;
  readonly path: string;
  readonly left: Buffer[];
}

/** The entries of a tree, the top first. A loop: a recursive generator takes longer the deeper it is. */
function* treeAt(top: Address): Generator<LeavingEntry> {
  const open: OpenLevel[] = [];
  const enter = (address: Address, path: string) => {
    const handle = directoryAt(address);
    if (handle === undefined) return;
    const level = { handle, path, left: [] as Buffer[] };
    open.push(level); // first, so that it is closed where its names cannot be read
    for (const name of sys.names(handle.address).reverse()) level.left.push(name);
  };
  try {
    yield { below: "", address: top };
    enter(top, "");
    for (let level = open.at(-1); level !== undefined; level = open.at(-1)) {
      const name = level.left.pop();
      if (name === undefined) open.pop()?.handle.close();
      else {
        const path = `${level.path}/${display(name.toString("latin1"))}`;
        const address = level.handle.below(name);
        yield { below: path, address };
        enter(address, path);
      }
    }
  } finally {
    for (const { handle } of open) handle.close();
  }
}

function directoryAt(address: Address): Handle | undefined {
  try {
    if (!sys.lstat(address)?.isDirectory()) return undefined;
    const handle = Handle.open(address, { follow: false });
    if (handle.stat().isDirectory()) return handle;
    handle.close();
    return undefined;
  } catch (error) {
    if (!isAbsence(error)) throw error; // what cannot be looked at is not free of rules
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
  if (one.target !== undefined && rules.exposes(from.at, one.target.at, () => bytes))
    throw new Fault("forbidden", { path: given, rule: rules.decide(from.at).rule ?? "", to: "mask" });
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
