// Frozen copies of bases. A fork is made over one and compared with it later, so the base may change, move or vanish
// meanwhile. A snapshot is reused until its base changes, and the next one links the files that are as they were.
import { uptime } from "node:os";
import { join } from "node:path";
import { Fault } from "../fault.ts";
import { isChangedSince } from "../shell/changed-since.ts";
import { flushFileSystem } from "../shell/flush-file-system.ts";
import { copyTreeAttributes } from "../shell/tree-attributes.ts";
import { purgeLater } from "../workspace/commit/purge.ts";
import { makeDirectory } from "../workspace/commit/state.ts";
import { contentAt, unlinkIfThere } from "../workspace/disk/if-there.ts";
import { sys } from "../workspace/disk/syscalls.ts";
import { system } from "../workspace/errno.ts";
import { display, Handle } from "../workspace/handle.ts";
import { reserveIn } from "../workspace/reserved.ts";
import { type Claim, claim, claimed, claimsIn } from "../workspace/system/claim.ts";
import { writeNamedFile } from "../workspace/system/named-file.ts";
import { cloneTree, type TreeEntries } from "../workspace/tree/clone-tree.ts";
import { parseEntries, printEntries } from "../workspace/tree/entries-file.ts";
import { isUnchanged } from "../workspace/tree/unchanged.ts";
import { type Layout, newId } from "./layout.ts";
import type { WorkspaceRecord } from "./record.ts";
import { SharedRuns } from "./shared-runs.ts";

/** Held by its user: it is not removed meanwhile. */
export interface HeldSnapshot extends Disposable {
  readonly id: string;
  /** The frozen files. */
  readonly tree: string;
}

const maxEntriesBytes = 1024 * 1024 * 1024;
const maxSmallBytes = 4096;
/** Of about 5,000 files. */
const largeEntriesBytes = 500_000;
/** A change shortly before a look may have the time of the look, by the clock that file systems use. */
const slackMs = 100;
/** The clock was set, if it and the machine's uptime differ by more than this from what they did. */
const clockStepMs = 2000;
const rounds = 5;
/** A run ended because the signal of the caller that began it was aborted. */
const gaveUp = new Error("cancelled");

export class Snapshots {
  readonly #layout: Layout;
  /** The ids of current snapshots, by workspace. */
  readonly #upToDate = new SharedRuns<string>();

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  treeOf(id: string): string {
    return join(this.#layout.snapshots, id, "tree");
  }

  /** Whether a snapshot is there and whole. */
  has(id: string): boolean {
    return sys.lstat(join(this.#layout.snapshots, id, "entries")) !== undefined;
  }

  /** A snapshot of how a workspace is now. Faults: `base_changing`, and those of reading it. */
  async of(base: WorkspaceRecord, signal?: AbortSignal): Promise<HeldSnapshot> {
    for (;;) {
      signal?.throwIfAborted();
      try {
        const run = this.#upToDate.of(base.id, () => this.#bringUpToDate(base, signal));
        const held = await this.hold(await Promise.race([run, ...aborted(signal)]));
        if (held !== undefined) return held; // otherwise a newer one has replaced it
      } catch (error) {
        if (error !== gaveUp) throw error; // otherwise the caller that began the run was cancelled
      }
    }
  }

  async #bringUpToDate(base: WorkspaceRecord, signal: AbortSignal | undefined): Promise<string> {
    try {
      using _ = await claimed(this.#layout.claims, `base-${base.id}`, signal);
      using root = system(base.root, () => Handle.open(base.root, { directory: true }));
      reserveIn([base.root]);
      using last = await this.latest(base);
      if (last !== undefined && (await this.#isCurrent(last, root, base, signal))) return last.id;
      using made = await this.#make(root, base, last, signal);
      writeNamedFile(join(this.#layout.latest, base.id), made.id);
      return made.id;
    } catch (error) {
      throw signal?.aborted ? gaveUp : error;
    }
  }

  /** Keeps a snapshot from being removed. Undefined if it is not there. */
  async hold(id: string): Promise<HeldSnapshot | undefined> {
    using _ = await claimed(this.#layout.claims, "collect");
    if (!this.has(id)) return undefined;
    return this.#held(id, claim(this.#layout.claims, `snapshot-${id}-${newId()}`));
  }

  #held(id: string, held: Claim | undefined): HeldSnapshot {
    return { id, tree: this.treeOf(id), [Symbol.dispose]: () => held?.[Symbol.dispose]() };
  }

  /** The newest one of a workspace, which may have changed since. */
  async latest({ id }: WorkspaceRecord): Promise<HeldSnapshot | undefined> {
    const name = contentAt(join(this.#layout.latest, id), maxSmallBytes)?.toString("utf8");
    return name === undefined || !/^[0-9a-f]{16}$/.test(name) ? undefined : await this.hold(name);
  }

  async #isCurrent(
    { id }: HeldSnapshot,
    root: Handle,
    base: WorkspaceRecord,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const seen = this.#seen(id);
    const size = sys.lstat(join(this.#layout.snapshots, id, "entries"))?.size ?? 0;
    if (seen !== undefined && (await this.#isStill(base, seen, size))) return true;
    const now = Date.now();
    if (!(await isUnchanged(root, this.#entries(id), signal))) return false;
    this.#see(id, now);
    return true;
  }

  /**
   * Whether nothing in a workspace has changed since a time; false where that is unknown. What changes in an overlay
   * mount changes its upper directory, because the snapshot below never changes: only that one is looked at.
   */
  async #isStill(base: WorkspaceRecord, since: number, entriesBytes: number): Promise<boolean> {
    const { method, tree, root } = base;
    const look =
      method === "overlay" && tree !== undefined
        ? isChangedSince(join(this.#layout.trees, tree, "upper"), { since })
        : isChangedSince(root, { since, isLarge: entriesBytes > largeEntriesBytes });
    return (await look) === false;
  }

  async #make(
    root: Handle,
    base: WorkspaceRecord,
    last: HeldSnapshot | undefined,
    signal: AbortSignal | undefined,
  ): Promise<HeldSnapshot> {
    let previous = last && { id: last.id, entries: this.#entries(last.id) };
    const attempts: string[] = [];
    try {
      // What changes while it is copied is copied again: a snapshot is one moment of its base.
      for (let round = 0; round < rounds; round++) {
        const id = newId();
        const held = claim(this.#layout.claims, `snapshot-${id}-${newId()}`);
        attempts.push(id);
        const [now, offset] = [Date.now(), clockOffset()];
        const entries = await this.#clone(root, id, previous, signal);
        const text = printEntries(entries);
        const isStill =
          (await this.#isStill(base, now - slackMs, text.length)) && isSteady(now, offset)
            ? true
            : await isUnchanged(root, entries, signal);
        if (isStill) {
          await flushFileSystem(join(this.#layout.snapshots, id));
          writeNamedFile(join(this.#layout.snapshots, id, "entries"), text);
          this.#see(id, now);
          attempts.pop();
          return this.#held(id, held);
        }
        held?.[Symbol.dispose]();
        previous = { id, entries };
      }
      throw new Fault("base_changing", { name: base.name });
    } finally {
      using snapshots = Handle.open(this.#layout.snapshots);
      for (const id of attempts) await purgeLater(snapshots, id);
    }
  }

  async #clone(
    root: Handle,
    id: string,
    previous: { readonly id: string; readonly entries: TreeEntries } | undefined,
    signal: AbortSignal | undefined,
  ): Promise<TreeEntries> {
    makeDirectory(join(this.#layout.snapshots, id));
    makeDirectory(this.treeOf(id));
    using target = Handle.open(this.treeOf(id), { directory: true, own: true });
    using tree = previous && Handle.open(this.treeOf(previous.id), { directory: true, own: true });
    const before = tree && previous ? { tree, entries: previous.entries } : undefined;
    const { entries, copied } = await cloneTree(root, target, { placing: "copy", previous: before, signal });
    await copyTreeAttributes(display(root.whereabouts()), this.treeOf(id), copied, signal);
    return entries;
  }

  #entries(id: string): TreeEntries {
    const text = contentAt(join(this.#layout.snapshots, id, "entries"), maxEntriesBytes)?.toString("utf8");
    return parseEntries(text ?? "[]");
  }

  /** When the base was last found to be as the snapshot has it; undefined if the clock was set since. */
  #seen(id: string): number | undefined {
    const text = contentAt(join(this.#layout.snapshots, id, "seen"), maxSmallBytes)?.toString("utf8") ?? "";
    const [time = Number.NaN, offset = Number.NaN] = text.split(" ").map(Number);
    return isSteady(time, offset) ? time - slackMs : undefined;
  }

  #see(id: string, time: number): void {
    writeNamedFile(join(this.#layout.snapshots, id, "seen"), `${time} ${clockOffset()}`);
  }

  /** Unused snapshots are moved away; the caller removes them. `needed` is asked under the claim. */
  async retire(needed: () => Promise<ReadonlySet<string>>): Promise<string[]> {
    using _ = await claimed(this.#layout.claims, "collect");
    const inUse = new Set(claimsIn(this.#layout.claims).map(name => name.split("-")[1]));
    const keep = await needed();
    const retired: string[] = [];
    for (const id of sys.names(this.#layout.snapshots).map(String)) {
      if (keep.has(id) || inUse.has(id)) continue;
      const away = `snapshot-${id}`;
      sys.rename(join(this.#layout.snapshots, id), join(this.#layout.removing, away));
      retired.push(away);
    }
    return retired;
  }

  /** The newest snapshots of these workspaces. What is remembered of others is forgotten. */
  latestOf(live: ReadonlySet<string>): Set<string> {
    const ids = new Set<string>();
    for (const workspace of sys.names(this.#layout.latest).map(String)) {
      const path = join(this.#layout.latest, workspace);
      if (!live.has(workspace)) unlinkIfThere(path);
      else ids.add(contentAt(path, maxSmallBytes)?.toString("utf8") ?? "");
    }
    return ids;
  }
}

/** Between the clock and the uptime of the machine: it stays the same unless the clock is set. */
function clockOffset(): number {
  return Math.round(Date.now() - uptime() * 1000);
}

/** Whether the clock was not set since a time, when it was so far from the uptime. */
function isSteady(time: number, offset: number): boolean {
  return Math.abs(clockOffset() - offset) < clockStepMs && time <= Date.now();
}

/** Rejects when the signal aborts; none where there is no signal. */
function aborted(signal: AbortSignal | undefined): Promise<never>[] {
  if (signal === undefined) return [];
  return [
    new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    }),
  ];
}
