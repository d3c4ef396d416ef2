// Copies the contents of a store into another one of any kind, for a backup or a migration. Workspaces, origins,
// entries and objects come along; ids are the other store's own. An interrupted copy continues where it stopped.
import { Fault } from "../fault.ts";
import { neededBy } from "./lineage.ts";
import type { LogEntry, StoredObject, WorkspaceInfo, WorkspaceStore } from "./store.ts";

export interface CopiedStore {
  readonly workspaces: number;
  readonly entries: number;
  readonly objects: number;
}

/** Under which a copy remembers what it is a copy of. */
const originKey = "copiedFrom";
const batch = 100;

/** Faults: `store_unavailable`, where the other store has another workspace of the same name. */
export async function copyStore(
  from: WorkspaceStore,
  to: WorkspaceStore,
  tell: (name: string) => void = () => {},
): Promise<CopiedStore> {
  const live = await from.list();
  const all = [...live, ...(await from.list({ dropped: true }))];
  const needed = neededBy(all, ({ dropped }) => dropped === undefined);
  const copies = new Map<string, string>();
  const total = { workspaces: 0, entries: 0, objects: 0 };
  // Origins come before their forks.
  const wanted = all.filter(({ id }) => needed.has(id)).sort((one, other) => one.created - other.created);
  for (const info of wanted) {
    tell(info.name);
    const copy = await beginning(to, info, copies);
    copies.set(info.id, copy.id);
    total.workspaces++;
    for (let at = copy.revision; ; ) {
      const entries = await from.entries(info.id, at, batch);
      for (const entry of entries) {
        total.objects += await copyEntry(from, to, info, copy, entry);
        total.entries++;
      }
      at += entries.length;
      if (entries.length >= batch) continue;
      if (!(at >= info.revision))
        throw damaged(`the log of ${info.name} ends at revision ${at} of ${info.revision}`);
      break;
    }
  }
  // What lives on only as an origin has no name there either.
  for (const { id } of wanted.filter(({ dropped }) => dropped !== undefined))
    await to.drop(copies.get(id) ?? "");
  return total;
}

async function beginning(
  to: WorkspaceStore,
  info: WorkspaceInfo,
  copies: ReadonlyMap<string, string>,
): Promise<WorkspaceInfo> {
  const { id, parent, about, dropped } = info;
  const name = dropped === undefined ? info.name : `${info.name}~${id}`;
  const origin = parent && { workspace: copies.get(parent.workspace) ?? "", revision: parent.revision };
  const made = await to.create({
    ...{ name, about: { ...about, [originKey]: id } },
    ...(origin && { parent: origin }),
  });
  if (typeof made !== "string") return made;
  const there = await to.find(name);
  if (there?.about[originKey] === id) return there;
  throw new Fault("store_unavailable", {
    reason: "invalid",
    detail: `the other store has another workspace ${name}`,
  });
}

/** How many objects had to be copied. */
async function copyEntry(
  from: WorkspaceStore,
  to: WorkspaceStore,
  info: WorkspaceInfo,
  copy: WorkspaceInfo,
  { revision, ...entry }: LogEntry,
): Promise<number> {
  const there = await to.has(entry.objects);
  const objects: StoredObject[] = [];
  for (const hash of entry.objects.filter(one => !there.has(one))) {
    const bytes = await from.get(info.id, hash);
    if (bytes === undefined) throw damaged(`object ${hash} of ${info.name} is missing`);
    objects.push([hash, bytes]);
  }
  const { result } = await to.append(copy.id, revision - 1, entry, { objects });
  if (result === "appended") return objects.length;
  throw new Fault("store_unavailable", {
    reason: "invalid",
    detail: `${copy.name} was changed during the copy`,
  });
}

function damaged(detail: string): Fault {
  return new Fault("store_unavailable", { reason: "damaged", detail });
}
