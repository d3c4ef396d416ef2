// Plans for moves and copies. A move never replaces what it was not told to, never goes into itself, and across
// devices it is a copy that is verified before the original is let go.
import { Fault } from "../../fault.ts";
import type { Identity } from "../archive/log.ts";
import { display, type Handle } from "../handle.ts";
import { mountOf } from "../mounts.ts";
import { isWithin } from "../root.ts";
import { kindOf } from "../stat.ts";
import type { Expectation } from "./change.ts";
import { check, describe, type Plan, type Stats } from "./plan.ts";
import { identityOf } from "./stage.ts";
import { sys } from "./syscalls.ts";
import type { Target } from "./target.ts";

interface Move {
  readonly overwrite?: boolean;
  readonly bytes?: Uint8Array;
  readonly expect?: Expectation;
}

export function planMove(plan: Plan, change: Move, source: Target, target: Target): void {
  const given = target.path.given;
  const stat = plan.at(source);
  if (stat === undefined) throw new Fault("not_found", { path: source.path.given });
  check(plan, source, stat, change.expect);
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
  if (there !== undefined && there.ino === stat.ino && there.dev === stat.dev && !change.bytes) {
    if (isOneEntry(plan, source, target)) {
      plan.move({ given, from: source.spot, to: target.spot, kind: base.kind, recase: true });
    } else {
      if (!change.overwrite) throw new Fault("exists", { path: given }); // two names of one file
      plan.takeAway(source, stat);
    }
    const after = { ...describe(stat), spot: target.spot };
    plan.outcomes.push({ ...base, effect: "moved", after, moved: identity(stat) });
    return;
  }
  refuseTaken(plan, target, there, stat, change.overwrite ?? false);
  if (there !== undefined) plan.doomed.push({ target, stat: there, recursive: false });
  const replaced = there && describe(there, plan, target);
  const after = { ...describe(stat, plan, source), spot: target.spot };
  if (change.bytes !== undefined) {
    moveEdited(plan, change.bytes, source, stat, target, there, base);
    return;
  }
  if (!canRename(plan, source, target, stat)) {
    const temp = plan.temp(target.spot);
    plan.stages.push({ kind: "copy", given, spot: temp, from: source.spot, verify: true });
    const trash = plan.move({ given, from: temp, to: target.spot, kind: base.kind, staged: {} }, there);
    plan.takeAway(source, stat, { copied: { staged: temp, copy: target.spot } });
    plan.outcomes.push({ ...base, effect: "moved", after, ...before(replaced, trash) });
    return;
  }
  const trash = plan.move({ given, from: source.spot, to: target.spot, kind: base.kind }, there);
  plan.outcomes.push({ ...base, effect: "moved", after, moved: identity(stat), ...before(replaced, trash) });
}

function identity({ ino, birthtime }: Stats): Identity {
  return { inode: ino, born: birthtime.getTime() };
}

/** New content under the new name, with the mode and owner of the old; the old name goes. */
function moveEdited(
  plan: Plan,
  bytes: Uint8Array,
  source: Target,
  stat: Stats,
  target: Target,
  there: Stats | undefined,
  base: { change: Target; source: { path: Target["path"]; at: string }; otherNames: number },
): void {
  const { given } = target.path;
  if (!stat.isFile()) throw new Fault("not_a_file", { path: source.path.given, kind: kindOf(stat) });
  const temp = plan.temp(target.spot);
  const pledge = plan.pledge(bytes);
  const { blob } = pledge;
  const staged = {
    ...pledge,
    mode: stat.mode & 0o7777,
    owner: { user: stat.uid, group: stat.gid },
  };
  plan.stages.push({
    kind: "bytes",
    given,
    spot: temp,
    bytes,
    flush: blob === undefined,
    ...staged,
    like: { ...source.spot, identity: identityOf(stat) },
  });
  if (source.at === target.at) {
    const trash = plan.move({ given, from: temp, to: target.spot, kind: "file", staged }, stat);
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
  plan.move({ given, from: temp, to: target.spot, kind: "file", staged }, there);
  const trash = plan.takeAway(source, stat);
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
  plan: Plan,
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
  check(plan, target, there, undefined);
  const temp = plan.temp(target.spot);
  plan.stages.push({ kind: "copy", given, spot: temp, from: original.handle, verify: false });
  const trash = plan.move({ given, from: temp, to: target.spot, kind: kindOf(stat), staged: {} }, there);
  plan.outcomes.push({
    change: target,
    kind: kindOf(stat),
    effect: "copied",
    source: { path: change.from, at: original.at },
    otherNames: there?.isFile() ? there.nlink - 1 : 0,
    after: { ...describe(stat), spot: target.spot },
    ...before(there && describe(there, plan, target), trash),
  });
}

function before(replaced: ReturnType<typeof describe> | undefined, trash: ReturnType<Plan["move"]>) {
  return replaced && trash ? { before: { ...replaced, ...trash } } : {};
}

/** Only files are replaced, only by files, and only when told. */
function refuseTaken(
  plan: Plan,
  target: Target,
  there: Stats | undefined,
  stat: Stats,
  overwrite: boolean,
): void {
  const path = target.path.given;
  if (there === undefined) return;
  if (there.isDirectory()) {
    plan.leaving(target);
    throw overwrite ? new Fault("not_a_file", { path, kind: "directory" }) : new Fault("exists", { path });
  }
  if (!overwrite) throw new Fault("exists", { path });
  if (stat.isDirectory()) throw new Fault("not_a_directory", { path });
  // A link is never lost to a file, nor a file to a link: neither could be taken back in one step.
  if (there.isSymbolicLink() !== stat.isSymbolicLink()) throw new Fault("is_a_link", { path });
}

function refuseIntoItself(plan: Plan, from: string, target: Target): void {
  const place = plan.places.existing(target.spot.place);
  const record = plan.places.records[place];
  if (record !== undefined && "at" in record && isWithin(display(record.at), from)) {
    throw new Fault("into_itself", { path: target.path.given });
  }
}

/** Whether a rename takes something to its target: on one device, and in one mount of it. */
function canRename(plan: Plan, source: Target, target: Target, stat: Stats): boolean {
  if (plan.copyDirectories && stat.isDirectory()) return false;
  const { places } = plan;
  const from = places.handle(source.spot.place);
  const to = places.handle(places.existing(target.spot.place));
  return to.stat().dev === stat.dev && (from === to || mountOf(from) === mountOf(to));
}

/** Two spellings of one entry, on a file system that does not tell case or Unicode forms apart. */
function isOneEntry(plan: Plan, source: Target, target: Target): boolean {
  if (source.spot.place !== target.spot.place || source.key !== target.key) return false;
  const names = sys.names(plan.places.handle(source.spot.place).address).map(name => name.toString("latin1"));
  return !(names.includes(source.spot.name) && names.includes(target.spot.name));
}
