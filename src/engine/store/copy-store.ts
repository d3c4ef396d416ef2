// Copies the contents of a store into another one of any kind, for a backup or a migration. Workspaces, origins,
// entries and objects come along; ids are the other store's own. An interrupted copy continues where it stopped.
//
// A checkpoint becomes the first entry of the copy, and the numbers of the entries after it change accordingly.
import { Fault } from "../fault.ts";
import { neededBy } from "./lineage.ts";
import type {
  LogEntry,
  Revision,
  StoredObject,
  WorkspaceId,
  WorkspaceInfo,
  WorkspaceStore,
} from "./store.ts";

export interface CopiedStore {
  readonly workspaces: number;
  readonly entries: number;
  readonly objects: number;
}

/** Under which a copy remembers what it is a copy of. */
const originKey = "copiedFrom";
/** The revision of the checkpoint that its first entry was, where it was one. */
const checkpointKey = "copiedCheckpoint";
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
  const copies = new Map<string, Copy>();
  const total = { workspaces: 0, entries: 0, objects: 0 };
  // Origins come before their forks.
  const wanted = all.filter(({ id }) => needed.has(id)).sort((one, other) => one.created - other.created);
  for (const info of wanted) {
    tell(info.name);
    const copy = await beginning(from, to, info, copies);
    copies.set(info.id, copy);
    total.workspaces++;
    for (let at = copy.reached; ; ) {
      const entries = await from.entries(info.id, at, batch);
      for (const entry of entries) {
        if (entry.revision !== (at === 0 ? copy.ahead : at) + 1 || (entry.isCheckpoint === true && at > 0))
          throw invalid(`${info.name} was pruned during the copy: begin with an empty store`);
        total.objects += await copyEntry(from, to, info, copy, entry);
        total.entries++;
        at = entry.revision;
      }
      if (entries.length > 0) continue;
      if (!(at >= info.revision))
        throw damaged(`the log of ${info.name} ends at revision ${at} of ${info.revision}`);
      break;
    }
  }
  // What lives on only as an origin has no name there either.
  for (const { id } of wanted.filter(({ dropped }) => dropped !== undefined))
    await to.drop(copies.get(id)?.id ?? "");
  return total;
}

interface Copy {
  readonly id: WorkspaceId;
  readonly name: string;
  /** By how much revisions are higher in the original. */
  readonly ahead: Revision;
  /** The last revision of the original that is there. */
  readonly reached: Revision;
}

async function beginning(
  from: WorkspaceStore,
  to: WorkspaceStore,
  info: WorkspaceInfo,
  copies: ReadonlyMap<string, Copy>,
): Promise<Copy> {
  const { id, parent, about, dropped } = info;
  const name = dropped === undefined ? info.name : `${info.name}~${id}`;
  const [first] = await from.entries(id, 0, 1);
  const checkpoint: Record<string, string> =
    first?.isCheckpoint === true ? { [checkpointKey]: String(first.revision) } : {};
  const base = parent && copies.get(parent.workspace);
  const origin = parent && {
    workspace: base?.id ?? "",
    revision: Math.max(0, parent.revision - (base?.ahead ?? 0)),
  };
  // An earlier copy may have had one, and this one has none, or another.
  const { [checkpointKey]: _, ...own } = about;
  const made = await to.create({
    ...{ name, about: { ...own, [originKey]: id, ...checkpoint } },
    ...(origin && { parent: origin }),
  });
  if (typeof made !== "string") return copyOf(made);
  const there = await to.find(name);
  if (there?.about[originKey] === id) return copyOf(there);
  throw invalid(`the other store has another workspace ${name}`);
}

function copyOf({ id, name, revision, about }: WorkspaceInfo): Copy {
  const ahead = Math.max(0, Number(about[checkpointKey] ?? 1) - 1);
  return { id, name, ahead, reached: revision === 0 ? 0 : revision + ahead };
}

/** How many objects had to be copied. */
async function copyEntry(
  from: WorkspaceStore,
  to: WorkspaceStore,
  info: WorkspaceInfo,
  copy: Copy,
  { revision, isCheckpoint: _, ...entry }: LogEntry,
): Promise<number> {
  const there = await to.has(entry.objects);
  const objects: StoredObject[] = [];
  for (const hash of entry.objects.filter(one => !there.has(one))) {
    const bytes = await from.get(info.id, hash);
    if (bytes === undefined) throw damaged(`object ${hash} of ${info.name} is missing`);
    objects.push([hash, bytes]);
  }
  const { result } = await to.append(copy.id, revision - 1 - copy.ahead, entry, { objects });
  if (result === "appended") return objects.length;
  throw invalid(`${copy.name} was changed during the copy`);
}

function invalid(detail: string): Fault {
  return new Fault("store_unavailable", { reason: "invalid", detail });
}

function damaged(detail: string): Fault {
  return new Fault("store_unavailable", { reason: "damaged", detail });
}
