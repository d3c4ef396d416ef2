// Removing things on a disk that has no room for a journal: people delete to make room, so that must be possible. It is
// done without a record and cannot be undone, which the commit says.

import type { Archive } from "../archive/archive.ts";
import { addressOf } from "../disk/held-directories.ts";
import { sys } from "../disk/syscalls.ts";
import { faultOf } from "../errno.ts";
import { atOnce } from "../footprint/time-slice.ts";
import type { Root } from "../root.ts";
import type { Change, Commit, CommitOptions } from "./change.ts";
import { planCommit } from "./plan-commit.ts";
import { changedFile } from "./planned-effect.ts";
import { purgeLater } from "./purge.ts";
import { pendingRecord } from "./record-of-commit.ts";
import { ResolvedChanges } from "./resolved-changes.ts";
import { applyRules } from "./rule-check.ts";
import { apply, undo } from "./step.ts";
import type { StepContext } from "./step-context.ts";

export async function removeWithoutRoom(
  roots: readonly Root[],
  archive: Archive,
  state: string,
  changes: readonly Change[],
  options: CommitOptions,
): Promise<Commit> {
  using draft = await ResolvedChanges.of(roots, state, changes, options);
  draft.confirm();
  await applyRules(draft, options);
  const plan = await planCommit(draft, options, { limits: archive.limits });
  const { places, steps } = plan;
  const inodes = steps.map(step =>
    step.do === "move" ? (sys.lstat(places.address(step.from))?.ino ?? 0) : 0,
  );
  const scene: StepContext = {
    places,
    inodes,
    blob: () => new Uint8Array(),
    single: steps.length === 1,
    powerCut: false,
  };
  options.signal?.throwIfAborted();
  try {
    for (const step of steps) apply(step, scene);
  } catch (error) {
    for (const [i, step] of [...steps.entries()].reverse()) undo(step, i, scene);
    throw faultOf(error, steps[0]?.given ?? "");
  }
  const by = options.by ?? { action: "", client: "" };
  const id = archive.changes.newId();
  const files = plan.outcomes.map(outcome => changedFile(outcome, places));
  for (const { place, name } of plan.trash) await purgeLater(places.handle(place), addressOf(name));
  archive.recordUnkept(id, atOnce(pendingRecord(plan.outcomes, by, plan.parents)));
  return { id, time: new Date(), by, files, parents: plan.parents, recorded: false };
}
