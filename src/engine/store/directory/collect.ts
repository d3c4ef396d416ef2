// Removes what is no longer needed. A writer that has put objects and not yet appended is safe: putting an object, or asking
// for it, gives it a new time, and what has a recent time stays.
import type { KeptObject, Objects } from "../../workspace/archive/objects.ts";
import { TimeSlice } from "../../workspace/footprint/time-slice.ts";
import { neededBy } from "../lineage.ts";
import type { Collected, CollectOptions, Hash } from "../store.ts";
import type { Registry } from "./registry.ts";

export async function collect(
  registry: Registry,
  objects: Objects,
  { graceMs, dryRun = false }: CollectOptions,
): Promise<Collected> {
  const workspaces = await collectWorkspaces(registry, graceMs, dryRun);
  // Ages are read before references, so an object that is referenced in between is found, or has a new time.
  const old = await objectsBefore(objects, Date.now() - graceMs);
  const named = await namedIn(registry, workspaces);
  const slice = new TimeSlice();
  let [count, bytes] = [0, 0];
  for (const object of old) {
    if (object.hash !== undefined && named.has(object.hash)) continue;
    if (!dryRun) objects.drop(object);
    count++;
    bytes += object.size;
    if (slice.isOver) await slice.turn();
  }
  return { workspaces: workspaces.size, objects: count, bytes };
}

async function collectWorkspaces(
  registry: Registry,
  graceMs: number,
  dryRun: boolean,
): Promise<ReadonlySet<string>> {
  const all = registry
    .ids()
    .map(id => registry.info(id))
    .filter(info => info !== undefined);
  const needed = neededBy(all, info => info.dropped === undefined || Date.now() - info.dropped < graceMs);
  const removed = new Set<string>();
  // Forks before what they were forked from: a crash in between leaves none without its origin.
  for (const { id } of all.sort((one, other) => other.created - one.created)) {
    if (needed.has(id)) continue;
    if (dryRun || registry.remove(id)) removed.add(id);
  }
  if (!dryRun) registry.removeLeftovers(Date.now() - graceMs);
  return removed;
}

async function objectsBefore(objects: Objects, time: number): Promise<KeptObject[]> {
  const slice = new TimeSlice();
  const old: KeptObject[] = [];
  for (const object of objects.all()) {
    if (object !== undefined && object.used < time) old.push(object);
    if (slice.isOver) await slice.turn();
  }
  return old;
}

async function namedIn(registry: Registry, without: ReadonlySet<string>): Promise<ReadonlySet<Hash>> {
  const slice = new TimeSlice();
  const named = new Set<Hash>();
  for (const id of registry.ids().filter(one => !without.has(one))) {
    const log = registry.log(id);
    for (let revision = 1; revision <= log.revision; revision++) {
      for (const hash of log.read(revision).objects) named.add(hash);
      if (slice.isOver) await slice.turn();
    }
  }
  return named;
}
