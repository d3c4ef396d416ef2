// Plans a write: new content beside the file and a rename over it or, if the inode must stay, a rewrite in place that
// the journal can roll back.

import { constants } from "node:fs";
import { Fault } from "../../fault.ts";
import { readAll, sys } from "../disk/syscalls.ts";
import { errnoOf, system } from "../errno.ts";
import type { Handle } from "../handle.ts";
import { kindOf } from "../stat.ts";
import type { CommitOptions, Expectation } from "./change.ts";
import { addPrecondition, type CommitPlan, describe, type Stats } from "./commit-plan.ts";
import { identityOf } from "./copy-attributes.ts";
import { grantedMode, holderOf, ownerOf, ownOwner } from "./granted-mode.ts";
import type { Target } from "./target.ts";

/** The largest file that is rewritten in place. */
const mostInPlace = 64 * 1024 * 1024;

export function planWrite(
  plan: CommitPlan,
  change: {
    readonly bytes: Uint8Array;
    readonly expect?: Expectation;
    readonly mode?: number;
    readonly modified?: Date;
  },
  target: Target,
  options: CommitOptions,
): void {
  const { given } = target.path;
  const { bytes, expect } = change;
  const stat = plan.at(target);
  if (stat !== undefined && expect === "absent") throw new Fault("exists", { path: given });
  if (stat !== undefined && !stat.isFile()) {
    throw new Fault("not_a_file", { path: given, kind: kindOf(stat) });
  }
  addPrecondition(plan, target, stat, expect);
  const base = { change: target, kind: "file" as const, otherNames: (stat?.nlink ?? 1) - 1 };
  if (stat !== undefined && isKeptInPlace(plan, target, stat, options)) {
    // Both contents go through memory and into the journal.
    const size = Math.max(stat.size, bytes.length);
    if (size > mostInPlace) throw new Fault("too_large", { path: given, size, limit: mostInPlace });
    const before = contentOf(plan, target);
    const blob = plan.inline(before, true) ?? { at: 0, length: 0 };
    const after = plan.inline(bytes, true) ?? { at: 0, length: 0 };
    plan.steps.push({ do: "rewrite", given, at: target.entry, inode: stat.ino, before: blob, after });
    const told = describe(stat);
    plan.outcomes.push({
      ...base,
      effect: "modified",
      before: { ...told, bytes: before, blob },
      after: { ...told, size: bytes.length, bytes, blob: after },
    });
    return;
  }
  const temp = plan.temp(target.entry);
  const asked = change.mode ?? (stat && stat.mode & 0o7777);
  const owner = stat && ownerOf(stat);
  const modeOf = holderOf(asked ?? 0, stat);
  const mode = asked === undefined ? undefined : grantedMode(asked, owner ?? ownOwner(), modeOf);
  const pledge = plan.pledge(bytes);
  const { blob } = pledge;
  const staged = {
    ...pledge,
    ...(mode !== undefined && { mode }),
    ...(owner && { owner }),
    ...(modeOf && { modeOf }),
    ...(change.modified && { modified: change.modified.getTime() }),
  };
  plan.stages.push({
    kind: "bytes",
    given,
    entry: temp,
    bytes,
    flush: blob === undefined,
    ...staged,
    ...(stat && { like: { ...target.entry, identity: identityOf(stat) } }),
  });
  const read = Buffer.isBuffer(plan.base) ? plan.base : undefined;
  const trash = plan.move({ given, from: temp, to: target.entry, kind: "file", staged }, stat, read);
  plan.outcomes.push({
    ...base,
    effect: stat === undefined ? "created" : "modified",
    ...(stat && trash && { before: { ...describe(stat), ...trash } }),
    ...(read && { base: read }),
    after: { kind: "file", size: bytes.length, mode, bytes, ...(blob && { blob }) },
  });
}

/**
 * Whether a file must be rewritten in place: to keep its other names or its owner, or because it may not be replaced.
 * Unless its other names are to be kept, one that has some is refused: it would change under them too.
 */
function isKeptInPlace(plan: CommitPlan, target: Target, stat: Stats, options: CommitOptions): boolean {
  if (options.hardLinks === "keep" && stat.nlink > 1) return true;
  const isFixed = !isReplaceable(plan, target, stat);
  if (isFixed && stat.nlink > 1) throw new Fault("permission_denied", { path: target.path.given });
  return isFixed;
}

function isReplaceable(plan: CommitPlan, target: Target, stat: Stats): boolean {
  const user = process.geteuid?.();
  if (user === undefined || user === 0) return true;
  const isOwnGroup = stat.gid === process.getegid?.() || process.getgroups?.().includes(stat.gid);
  return stat.uid === user && isOwnGroup === true && mayReplaceIn(plan.places.handle(target.entry.place));
}

/** Whether this user may replace the entries of a directory. */
export function mayReplaceIn({ address }: Handle): boolean {
  try {
    sys.access(address, constants.W_OK | constants.X_OK);
    return true;
  } catch (error) {
    if (errnoOf(error) === "EACCES") return false;
    throw error;
  }
}

function contentOf(plan: CommitPlan, target: Target): Buffer {
  return system(target.path.given, () => {
    const fd = sys.open(plan.places.address(target.entry), constants.O_RDWR | constants.O_NOFOLLOW);
    try {
      return readAll(fd);
    } finally {
      sys.close(fd);
    }
  });
}
