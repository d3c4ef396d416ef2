// How a replica begins: it publishes the directory, sends what an earlier process has not sent, or fetches the files.
import { Fault } from "../fault.ts";
import type { Origin, Revision } from "../store/store.ts";
import type { By } from "../workspace/archive/log.ts";
import type { OwnPaths } from "../workspace/commit/publication.ts";
import type { Operation } from "../workspace/commit/publish.ts";
import { under } from "../workspace/root.ts";
import { isWithinAny } from "../workspace/within.ts";
import type { CopyDifference } from "./copy-difference.ts";
import { bodyOf } from "./entry-body.ts";
import { entryParts } from "./entry-parts.ts";
import type { EntrySender } from "./entry-sender.ts";
import { Filling } from "./filling.ts";
import { FirstFiles } from "./first-files.ts";
import { foreignPaths } from "./foreign-paths.ts";
import type { LogFollower } from "./log-follower.ts";
import { entriesUntil, readOrigin, treesUntil } from "./read-log.ts";
import type { ReplicaContext } from "./replica-context.ts";
import { usualImportMs } from "./replica-options.ts";
import type { ReplicaParts } from "./replica-parts.ts";
import { errorText } from "./store-faults.ts";
import { TreeState } from "./tree-state.ts";

/** Files in a line of the log. */
const mostNamed = 10;

export class ReplicaStart {
  readonly #context: ReplicaContext;
  readonly #sender: EntrySender;
  readonly #follower: LogFollower;
  readonly #difference: CopyDifference;
  /** While files are being fetched. */
  filling: Filling | undefined;
  firstFiles: FirstFiles | undefined;

  constructor({ context, sender, follower, difference }: ReplicaParts) {
    this.#context = context;
    this.#sender = sender;
    this.#follower = follower;
    this.#difference = difference;
  }

  /** Publishes a directory as the first content of the workspace. */
  async import(by: By): Promise<void> {
    const { turns, options } = this.#context;
    let shown: Promise<void> | undefined;
    const show = async () => {
      await this.#sender.showImport(by).catch(() => {}); // the import finds out what is wrong
      shown = undefined;
    };
    const timer = setInterval(
      () => {
        shown ??= show();
      },
      (options.importMs ?? usualImportMs) / 4,
    );
    try {
      await turns.take(() => this.#difference.publish(by, { complete: true }));
    } finally {
      clearInterval(timer);
      await shown;
    }
  }

  /**
   * Sends what a process that died has answered and not sent. The log is read up to where that began. What is gone
   * although nothing here removed it is not sent, and comes back; so is what was put back although nothing here did.
   */
  async recover(origin: Origin | undefined): Promise<void> {
    const { copy, head, unsent, root, store, id, turns } = this.#context;
    unsent.mixed = true;
    const found = await copy.files.unpublished(head.state);
    const foreign = await foreignPaths(
      found,
      found.filter(one => copy.files.isGone(one)),
      root,
      copy.workspace.archive.changes,
      () => treesUntil(store, id, origin, head.revision),
    );
    const own: OwnPaths = path => !isWithinAny(path, foreign.paths);
    let isSent = true;
    try {
      await turns.take(() => this.#difference.publish({ action: "recover", client: "" }, { own }));
      unsent.allSent();
      unsent.forget();
    } catch (error) {
      if (!Fault.is(error, "history_full")) throw error;
      isSent = false;
      // They stay here, and the next command or start publishes them, if there is room then.
      this.#context.warn(`answered changes are not in the store (${errorText(error)})`);
    }
    if (foreign.paths.size === 0) return;
    const tell = (paths: readonly string[], what: string) =>
      paths.length > 0 &&
      this.#context.warn(`${paths.length} paths ${what}: ${someOf(paths)}. They are fetched from the store`);
    tell(foreign.gone, "are gone from this directory, and no change here removed them");
    tell(foreign.earlier, "of this directory hold what they held earlier, and no change here put that back");
    if (isSent) return await this.fill();
    const isForeign = ({ at }: Operation) => isWithinAny(under(root, at), foreign.paths);
    await this.#follower.repairWith((await copy.files.unapplied(head.state)).filter(isForeign));
  }

  /** What the directory holds is not sent: it is set aside. */
  forgetUnsent(): void {
    this.#context.unsent.forget();
  }

  /**
   * Undoably removes what the copy holds and the store does not: it has lost changes, or a process has died before it
   * sent them. Others may have written since, so it is for a person to decide what becomes of it.
   */
  async setAside(): Promise<void> {
    const { copy, head, contents } = this.#context;
    const files = await copy.files.filesIn(await copy.files.unapplied(head.state));
    const lost = await contents.unknown([...files.values()].flatMap(one => [...one.values()]));
    const paths = [...files.values()].flatMap(one =>
      [...one].flatMap(([at, hash]) => (lost.has(hash) ? [at] : [])),
    );
    if (paths.length === 0) return;
    const operations = [...files].flatMap(([one, inside]) =>
      [...inside.values()].some(hash => lost.has(hash)) ? [one] : [],
    );
    const ids: string[] = [];
    for (const part of entryParts(operations)) {
      const change = this.#context.newId();
      const get = await contents.fetched(part.operations);
      const how = { irrevocable: "refuse" } as const;
      await copy.apply(
        change,
        { action: "set_aside", client: "" },
        part.operations,
        new TreeState(),
        get,
        how,
      );
      ids.push(change);
    }
    this.#context.warn(
      `${paths.length} files of this directory are not in the store, which has lost changes or never got these: ${someOf(paths)}. The directory is now what the store has; undo ${ids.join(", ")} to get them back`,
    );
  }

  /** Makes the copy what the log says, with later entries. If that takes long, it continues after the answer. */
  async fill(): Promise<void> {
    const { copy, head, store, turns, options, id } = this.#context;
    const operations = await copy.files.unapplied(head.state);
    const { waitForFiles = 500, info, warn } = options;
    const { state } = head;
    const filling = new Filling(operations, {
      copy,
      state,
      info,
      warn,
      apply: part => this.#follower.fetch(part),
    });
    if (operations.length <= waitForFiles) {
      await filling.done;
      return await this.#context.ask(); // however long it takes to apply what is missing
    }
    info?.(`fetching ${operations.length} files; single files can be read meanwhile`);
    this.filling = filling;
    this.firstFiles = new FirstFiles(store, id, copy, state, head.revision);
    // Nothing else is done before: what others have published is applied to a whole copy.
    turns
      .take(() => filling.done)
      .then(
        () => {
          this.filling = undefined;
          this.firstFiles = undefined;
        },
        error => this.#context.warn(`the files could not be fetched: ${errorText(error)}`),
      );
  }

  /** Reads what it was forked from, without touching files. */
  async replayOrigin(origin: Origin | undefined): Promise<void> {
    if (origin !== undefined) await readOrigin(this.#context.store, origin, this.#context.head.state);
  }

  /** Reads the log up to a revision without touching files. */
  async replay(until: Revision): Promise<void> {
    const { store, id, head } = this.#context;
    head.isReplaying = true;
    for await (const entry of entriesUntil(store, id, head.revision, until))
      head.advance(bodyOf(entry).operations, entry.id);
    head.isReplaying = false;
  }

  /** The same for entries that are in the history of this machine: the directory has them already. */
  async replayKnown(until: Revision): Promise<void> {
    const { store, id, head, copy } = this.#context;
    for await (const entry of entriesUntil(store, id, head.revision, until)) {
      if (copy.workspace.archive.changes.get(entry.id) === undefined) return;
      head.advance(bodyOf(entry).operations, entry.id);
    }
  }
}

function someOf(paths: readonly string[]): string {
  return paths.slice(0, mostNamed).join(", ") + (paths.length > mostNamed ? ", …" : "");
}
