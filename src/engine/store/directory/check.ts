// Looks for damage: entries that do not fit their checksum or are missing, and objects that are named and not there.
import { Fault } from "../../fault.ts";
import type { Objects } from "../../workspace/archive/objects.ts";
import { TimeSlice } from "../../workspace/footprint/time-slice.ts";
import type { Damage, Hash } from "../store.ts";
import type { Registry } from "./registry.ts";

export async function* checkStore(registry: Registry, objects: Objects): AsyncGenerator<Damage> {
  const slice = new TimeSlice();
  const named = new Map<Hash, Set<string>>();
  for (const id of registry.ids()) {
    const info = registry.isDamaged(id) ? undefined : registry.info(id);
    if (info === undefined) {
      if (registry.isDamaged(id)) yield { what: "damaged_workspace", where: id, workspaces: [] };
      continue;
    }
    const { name, parent, revision: last } = info;
    if (parent !== undefined && registry.info(parent.workspace) === undefined)
      yield { what: "missing_parent", where: parent.workspace, workspaces: [name] };
    const log = registry.log(id);
    for (let revision = 1; revision <= last; revision++) {
      if (slice.isOver) await slice.turn();
      if (log.isDamaged(revision)) {
        yield { what: "damaged_entry", where: `${name}/${revision}`, workspaces: [name] };
        continue;
      }
      for (const hash of log.read(revision).objects) {
        const names = named.get(hash) ?? new Set();
        named.set(hash, names.add(name));
      }
    }
    if (log.hasGap) yield { what: "missing_entry", where: `${name}/${last + 1}`, workspaces: [name] };
  }
  for (const [hash, names] of named) {
    if (slice.isOver) await slice.turn();
    if (isWhole(objects, hash)) continue;
    const what = objects.isThere(hash) ? "damaged_object" : "missing_object";
    yield { what, where: hash, workspaces: [...names].sort() };
  }
}

function isWhole(objects: Objects, hash: Hash): boolean {
  try {
    return objects.get(hash) !== undefined;
  } catch (error) {
    if (Fault.is(error, "io")) return false; // a bad sector
    throw error;
  }
}
