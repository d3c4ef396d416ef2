// What a machine notes about a directory that is a replica, in the state directory: which workspace it is a copy of,
// and the place in the log after which it holds changes that are not in the store yet.
import { dirname, join } from "node:path";
import { Fault } from "../fault.ts";
import type { Revision, WorkspaceId } from "../store/store.ts";
import { statePath } from "../workspace/commit/state-path.ts";
import { contentAt, namesIn, unlinkIfThere } from "../workspace/disk/if-there.ts";
import { ifAllowed, stateDirectory, system } from "../workspace/errno.ts";
import { type Claim, claim } from "../workspace/system/claim.ts";
import { writeNamedFile } from "../workspace/system/named-file.ts";
import type { Workspace } from "../workspace/workspace.ts";

const unsentSuffix = ".unsent";
const claimSuffix = ".in-use";

const folderName = "replicas";

/** A revision with its entry: a store that was restored from a backup may give the number to another one. */
export interface EntryPlace {
  readonly revision: Revision;
  /** The id of the entry at that revision. Undefined before the first one, and in notes of earlier versions. */
  readonly id?: string | undefined;
}

export class ReplicaNote {
  readonly root: string;
  readonly #folder: string;
  readonly #name: string;

  private constructor(folder: string, root: string) {
    this.root = root;
    this.#folder = folder;
    this.#name = Buffer.from(root).toString("base64url").slice(-200);
  }

  static of(workspace: Workspace, root: string): ReplicaNote {
    return new ReplicaNote(workspace.stateFolder(folderName), root);
  }

  /** The note of the replica that contains a directory. Undefined if no replica does. */
  static covering(state: string | undefined, directory: string): ReplicaNote | undefined {
    const folder = join(statePath(state), folderName);
    // A state directory that this user cannot read is not theirs; the first commit reports it.
    return system(stateDirectory, () =>
      ifAllowed(() => {
        for (let at = directory; ; at = dirname(at)) {
          const note = new ReplicaNote(folder, at);
          if (note.workspace !== undefined) return note;
          if (dirname(at) === at) return undefined;
        }
      }),
    );
  }

  /** The workspace that the directory is a copy of. Without this note, nothing in the directory is ever removed. */
  get workspace(): WorkspaceId | undefined {
    return contentAt(join(this.#folder, this.#name))?.toString();
  }

  set workspace(id: WorkspaceId) {
    // Changes have the same ids on every replica, so two of one workspace cannot share a history.
    for (const name of namesIn(this.#folder)) {
      if (name === this.#name || name.endsWith(unsentSuffix) || name.endsWith(claimSuffix)) continue;
      if (contentAt(join(this.#folder, name))?.toString() === id) throw invalid(secondReplica);
    }
    writeNamedFile(join(this.#folder, this.#name), id);
  }

  /**
   * The directory has changes on top of this entry that the store lacks; undefined: it has none. Faults:
   * `store_unavailable` where that is not known.
   */
  get unsentSince(): EntryPlace | undefined {
    const text = contentAt(join(this.#folder, this.#name + unsentSuffix))?.toString();
    if (text === undefined) return undefined;
    const [, revision, id] = /^(\d+)(?: (\S+))?$/.exec(text) ?? [];
    if (revision === undefined)
      throw new Fault("store_unavailable", { reason: "damaged", detail: unreadable });
    return { revision: Number(revision), id };
  }

  /** `flush`: that there are such changes must survive a power cut, how far they were sent need not. */
  noteUnsent(since: EntryPlace | undefined, { flush = true } = {}): void {
    const path = join(this.#folder, this.#name + unsentSuffix);
    if (since === undefined) unlinkIfThere(path);
    else writeNamedFile(path, [since.revision, since.id ?? []].flat().join(" "), { flush });
  }

  /** Held as long as a process keeps the directory up to date. Faults: `store_unavailable` where another one does. */
  claim(): Claim {
    const got = claim(this.#folder, this.#name + claimSuffix);
    if (got === undefined) throw invalid(inUse);
    return got;
  }

  /** Whether a living process keeps the directory up to date. */
  get isInUse(): boolean {
    const got = claim(this.#folder, this.#name + claimSuffix);
    got?.[Symbol.dispose]();
    return got === undefined;
  }
}

const secondReplica =
  "another directory with this state directory is a replica of it; each needs a state directory of its own";
const inUse = "another server keeps this directory up to date; serve one directory with one server";
const unreadable =
  "it is not known which changes of this directory the store lacks: keep a copy of the directory, start with an empty one, and write to it again what is missing";

function invalid(detail: string): Fault {
  return new Fault("store_unavailable", { reason: "invalid", detail });
}
