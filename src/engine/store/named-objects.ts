// Which objects a workspace may read, for stores that can only list its entries: those that its own log names, and
// those that its origin's log named up to the revision of the fork. A hash alone opens nothing.
import type { Hash, LogEntry, Origin, Revision, WorkspaceId } from "./store.ts";

interface Logs {
  entries(workspace: WorkspaceId, after: Revision, limit: number): Promise<readonly LogEntry[]>;
  parentOf(workspace: WorkspaceId): Promise<Origin | undefined>;
}

/** What is known of one log. Logs only grow, so it never has to be read again. */
interface Known {
  read: Revision;
  /** The first revision that names an object. */
  readonly first: Map<Hash, Revision>;
}

const mostLogs = 256;
const batch = 1000;

export class NamedObjects {
  readonly #logs: Logs;
  readonly #known = new Map<WorkspaceId, Known>();

  constructor(logs: Logs) {
    this.#logs = logs;
  }

  async reaches(workspace: WorkspaceId, hash: Hash): Promise<boolean> {
    let until = Number.POSITIVE_INFINITY;
    const seen = new Set<WorkspaceId>(); // damaged ones may be forked from each other
    for (let at: WorkspaceId | undefined = workspace; at !== undefined && !seen.has(at); ) {
      seen.add(at);
      const first = await this.#firstIn(at, hash, until);
      if (first !== undefined && first <= until) return true;
      const parent: Origin | undefined = await this.#logs.parentOf(at);
      at = parent?.workspace;
      until = parent?.revision ?? 0;
    }
    return false;
  }

  async #firstIn(workspace: WorkspaceId, hash: Hash, until: Revision): Promise<Revision | undefined> {
    const known = this.#knownOf(workspace);
    for (let more = true; more && !known.first.has(hash) && known.read < until; ) {
      const entries = await this.#logs.entries(workspace, known.read, batch);
      for (const { revision, objects } of entries) {
        for (const one of objects) if (!known.first.has(one)) known.first.set(one, revision);
        known.read = Math.max(known.read, revision);
      }
      more = entries.length === batch;
    }
    return known.first.get(hash);
  }

  #knownOf(workspace: WorkspaceId): Known {
    const known = this.#known.get(workspace) ?? { read: 0, first: new Map() };
    this.#known.delete(workspace);
    this.#known.set(workspace, known);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= mostLogs) break;
      this.#known.delete(oldest);
    }
    return known;
  }
}
