// Plans moves and copies. A move replaces a file only if told to, never goes into itself, and across devices is a
// copy that is verified before the original is removed.

import { Fault } from "../../fault.ts";
import type { Identity } from "../archive/log.ts";
import { sys } from "../disk/syscalls.ts";
import { display, type Handle } from "../handle.ts";
import { isWithin } from "../root.ts";
import { kindOf } from "../stat.ts";
import { mountOf } from "../system/mounts.ts";
import type { Expectation } from "./change.ts";
import { addPrecondition, type CommitPlan, describe, type Stats } from "./commit-plan.ts";
import { identityOf } from "./copy-attributes.ts";
import { grantedMode, ownerOf, ownOwner } from "./granted-mode.ts";
import type { Target } from "./target.ts";

interface Move {
  readonly overwrite?: boolean;
  readonly bytes?: Uint8Array;
  readonly expect?: Expectation;
}

export function planMove(plan: CommitPlan, change: Move, source: Target, target: Target): void {
  const given = target.path.given;
  const stat = plan.at(source);
  if (stat === undefined) throw new Fault("not_found", { path: source.path.given });
  addPrecondition(plan, source, stat, change.expect);
  const from = { path: source.path, at: source.at };
  const base = { change: target, kind: kindOf(stat), source: from, otherNames: 0 };
  if (source.at === target.at && change.bytes === undefined) {
    plan.outcomes.push({ ...base, effect: "none" });
    return;
  }
  if (stat.isDirectory()) {
    refuseIntoItself(plan, source.at, target);
    plan.leaving(source);
  }
  const there = plan.at(target);
  const isItself = there !== undefined && there.ino === stat.ino && there.dev === stat.dev;
  const isRespelled = isItself && source.at !== target.at && isOneEntry(plan, source, target);
  if (isRespelled) plan.move({ given, from: source.entry, to: target.entry, kind: base.kind, recase: true });
  if (isItself && !change.bytes) {
    if (!isRespelled) {
      if (!change.overwrite) throw new Fault("exists", { path: given }); // two names of one file
      plan.takeAway(source, stat);
    }
    const after = { ...describe(stat), entry: target.entry };
    plan.outcomes.push({ ...base, effect: "moved", after, moved: identity(stat) });
    return;
  }
  if (!isRespelled) refuseTaken(plan, target, there, stat, change.overwrite ?? false);
  if (there !== undefined) plan.doomed.push({ target, stat: there, recursive: false });
  const replaced = there && describe(there, plan, target);
  const after = { ...describe(stat, plan, source), entry: target.entry };
  if (change.bytes !== undefined) {
    moveEdited(plan, change.bytes, source, stat, target, there, base, isRespelled);
    return;
  }
  if (!canRename(plan, source, target, stat)) {
    const temp = plan.temp(target.entry);
    plan.stages.push({ kind: "copy", given, entry: temp, from: source.entry, verify: true });
    const trash = plan.move({ given, from: temp, to: target.entry, kind: base.kind, staged: {} }, there);
    plan.takeAway(source, stat, { copied: { staged: temp, copy: target.entry } });
    plan.doomed.push({ target: source, stat, recursive: true, isCopied: true });
    plan.outcomes.push({ ...base, effect: "moved", after, ...before(replaced, trash) });
    return;
  }
  const trash = plan.move({ given, from: source.entry, to: target.entry, kind: base.kind }, there);
  plan.outcomes.push({ ...base, effect: "moved", after, moved: identity(stat), ...before(replaced, trash) });
}

function identity({ ino, birthtime }: Stats): Identity {
  return { inode: ino, born: birthtime.getTime() };
}

/** New content under the new name, with the mode and owner of the old; the old name goes. */
function moveEdited(
  plan: CommitPlan,
  bytes: Uint8Array,
  source: Target,
  stat: Stats,
  target: Target,
  there: Stats | undefined,
  base: { change: Target; source: { path: Target["path"]; at: string }; otherNames: number },
  isRespelled: boolean,
): void {
  const { given } = target.path;
  if (!stat.isFile()) throw new Fault("not_a_file", { path: source.path.given, kind: kindOf(stat) });
  const temp = plan.temp(target.entry);
  const pledge = plan.pledge(bytes);
  const { blob } = pledge;
  const staged = {
    ...pledge,
    mode: stat.mode & 0o7777,
    owner: ownerOf(stat),
    modeOf: ownerOf(stat),
  };
  plan.stages.push({
    kind: "bytes",
    given,
    entry: temp,
    bytes,
    flush: blob === undefined,
    ...staged,
    like: { ...source.entry, identity: identityOf(stat) },
  });
  if (source.at === target.at) {
    const trash = plan.move({ given, from: temp, to: target.entry, kind: "file", staged }, stat);
    const after = { ...describe(stat), size: bytes.length, bytes, ...(blob && { blob }) };
    plan.outcomes.push({
      ...base,
      kind: "file",
      effect: "modified",
      after,
      ...before(describe(stat), trash),
    });
    return;
  }
  // An entry that has its new spelling already is replaced; otherwise the old name goes.
  const replaced = plan.move({ given, from: temp, to: target.entry, kind: "file", staged }, there);
  const trash = isRespelled && replaced ? replaced : plan.takeAway(source, stat);
  plan.outcomes.push({
    ...base,
    kind: "file",
    effect: "moved",
    edited: true,
    otherNames: stat.nlink - 1,
    before: { ...describe(stat), ...trash },
    after: { ...describe(stat), size: bytes.length, bytes, ...(blob && { blob }) },
  });
}

export function planCopy(
  plan: CommitPlan,
  change: { readonly overwrite?: boolean; readonly from: Target["path"] },
  original: { readonly handle: Handle; readonly at: string },
  target: Target,
): void {
  const { given } = target.path;
  const stat = original.handle.stat();
  if (!stat.isFile() && !stat.isDirectory()) {
    throw new Fault("not_a_file", { path: change.from.given, kind: kindOf(stat) });
  }
  if (stat.isDirectory()) refuseIntoItself(plan, original.at, target);
  const there = plan.at(target);
  refuseTaken(plan, target, there, stat, change.overwrite ?? false);
  if (there !== undefined) plan.doomed.push({ target, stat: there, recursive: false });
  addPrecondition(plan, target, there, undefined);
  const temp = plan.temp(target.entry);
  plan.stages.push({ kind: "copy", given, entry: temp, from: original.handle, verify: false });
  const trash = plan.move({ given, from: temp, to: target.entry, kind: kindOf(stat), staged: {} }, there);
  plan.outcomes.push({
    change: target,
    kind: kindOf(stat),
    effect: "copied",
    source: { path: change.from, at: original.at },
    otherNames: there?.isFile() ? there.nlink - 1 : 0,
    after: { ...describe(stat), mode: copiedMode(stat), entry: target.entry },
    ...before(there && describe(there, plan, target), trash),
  });
}

function before(replaced: ReturnType<typeof describe> | undefined, trash: ReturnType<CommitPlan["move"]>) {
  return replaced && trash ? { before: { ...replaced, ...trash } } : {};
}

function copiedMode(stat: Stats): number {
  return stat.isFile() ? grantedMode(stat.mode, ownOwner(), ownerOf(stat)) : stat.mode & 0o7777;
}

/** Only files are replaced, only by files, and only if told to. */
function refuseTaken(
  plan: CommitPlan,
  target: Target,
  there: Stats | undefined,
  stat: Stats,
  overwrite: boolean,
): void {
  const path = target.path.given;
  if (there === undefined) return;
  if (there.isDirectory()) {
    plan.leaving(target);
    throw new Fault(overwrite ? "not_a_file" : "exists", { path, kind: "directory" });
  }
  if (!overwrite) throw new Fault("exists", { path });
  if (stat.isDirectory()) throw new Fault("not_a_directory", { path });
  // A link never replaces a file, nor a file a link: neither could be rolled back in one step.
  if (there.isSymbolicLink() !== stat.isSymbolicLink()) throw new Fault("is_a_link", { path });
}

function refuseIntoItself(plan: CommitPlan, from: string, target: Target): void {
  const place = plan.places.existing(target.entry.place);
  const record = plan.places.records[place];
  if (record !== undefined && "at" in record && isWithin(display(record.at), from)) {
    throw new Fault("into_itself", { path: target.path.given });
  }
}

/** Whether a rename takes something to its target: on one device, in one mount of it, and from its own directory. */
function canRename(plan: CommitPlan, source: Target, target: Target, stat: Stats): boolean {
  const { places } = plan;
  if (plan.copyDirectories && (stat.isDirectory() || source.entry.place !== target.entry.place)) return false;
  const from = places.handle(source.entry.place);
  const to = places.handle(places.existing(target.entry.place));
  const isNew = places.isNew(target.entry.place);
  if (to.stat().dev !== stat.dev) return false;
  return from === to || (from.reaches(to, isNew) && mountOf(from) === mountOf(to));
}

/** Two spellings of one entry, on a file system that ignores case or Unicode forms. */
function isOneEntry(plan: CommitPlan, source: Target, target: Target): boolean {
  if (source.entry.place !== target.entry.place || source.key !== target.key) return false;
  const names = sys
    .names(plan.places.handle(source.entry.place).address)
    .map(name => name.toString("latin1"));
  return !(names.includes(source.entry.name) && names.includes(target.entry.name));
}
