// The one way to write: resolve, lock, read, stage, compare, journal, rename. Either all changes of a commit are on
// disk or none is, whatever fails and whenever the process is killed.
//
//   intent   the journal holds the steps and the new bytes
//   stage    new content beside its targets, under temporary names
//   compare  the files still hold what the changes were computed from
//   commit   a flushed mark in the journal: from here on the commit has happened
//   apply    renames; replaced content is kept aside
//   done     listeners see old and new content; then the old is removed, and files are flushed in the background
import { setTimeout as pause } from "node:timers/promises";
import { Fault } from "../../fault.ts";
import { traced } from "../../span.ts";
import { contentHash, hashInTurns } from "../../text/version.ts";
import { turnAfter } from "../../turn.ts";
import { jsonSteps } from "../archive/json-steps.ts";
import { anonymous } from "../archive/log.ts";
import type { ByteRange } from "../archive/pending-record.ts";
import {
  bytesIn,
  canWait,
  isHeld,
  isInTreeAlone,
  isKept,
  mostWaiting,
  type PendingRecord,
  type Taken,
  withTaken,
} from "../archive/pending-record.ts";
import { addressOf, type EntryRef, entryKey, HeldDirectories } from "../disk/held-directories.ts";
import { contentAt } from "../disk/if-there.ts";
import { bootId } from "../disk/process-identity.ts";
import { sys } from "../disk/syscalls.ts";
import { faultOf, isShortage, isWithoutRoom } from "../errno.ts";
import { gently, inSlices } from "../footprint/time-slice.ts";
import { Handle } from "../handle.ts";
import type { WorkspacePath } from "../path.ts";
import type { Root } from "../root.ts";
import { freeBelow } from "../system/free-space.ts";
import { onWindows } from "../windows-path.ts";
import { unlinkPinned } from "./after-commit.ts";
import type { Change, Commit, CommitListener, CommitOptions, Current } from "./change.ts";
import type { CommitPlan } from "./commit-plan.ts";
import { AsideRefused, ConcurrentChange, NotRenamable } from "./concurrent-change.ts";
import type { CopyAttributes } from "./copy-attributes.ts";
import { mostAsked } from "./copy-attributes.ts";
import { currentFile } from "./current-file.ts";
import { changedIn, Departing, departingIn } from "./departures.ts";
import { FlushedDirectories, flushNamesLater, flushReachableLater } from "./durable-directory.ts";
import type { JournalState } from "./journal-pair.ts";
import {
  type JournalEntry,
  type JournalledChange,
  type JournalledCommit,
  temporaryNamesOf,
} from "./journalled-commit.ts";
import { Locks } from "./lock.ts";
import { planCommit } from "./plan-commit.ts";
import { pathsOf } from "./power-cut.ts";
import { publicationOf } from "./publication.ts";
import { purgeLater } from "./purge.ts";
import { QueuedEdit } from "./queued-edit.ts";
import { pendingRecord } from "./record-of-commit.ts";
import { removeAll, takeBack } from "./recover.ts";
import { type ResolvedChange, ResolvedChanges, resolveTargets } from "./resolved-changes.ts";
import { isBusyOpen, retryWhileBusy } from "./retry-busy-file.ts";
import { applyRules, refuseUncovering } from "./rule-check.ts";
import { type CommitPart, reporting, reportOf, SharedCommit } from "./shared-commit.ts";
import { askAbout, isFlushed, learnAbout, type StagedContent, stageAll } from "./stage.ts";
import { apply, applyAll, type Step } from "./step.ts";
import type { StepContext } from "./step-context.ts";
import type { Store } from "./store.ts";
import { othersFlushed } from "./unrecorded-commits.ts";
import { comparesContent, verify } from "./verify.ts";

const attempts = 20;
const hashedAtOnce = 1024 * 1024;
const manySteps = 200;
const mostCompared = 1024 * 1024;

export class Committer {
  readonly #roots: readonly Root[];
  readonly #store: Store;
  readonly #listeners: ReadonlySet<CommitListener>;
  readonly #copyAttributes: CopyAttributes | undefined;

  constructor(
    roots: readonly Root[],
    store: Store,
    listeners: ReadonlySet<CommitListener>,
    copyAttributes: CopyAttributes | undefined,
  ) {
    this.#roots = roots;
    this.#store = store;
    this.#listeners = listeners;
    this.#copyAttributes = copyAttributes;
  }

  commit(changes: readonly Change[], options: CommitOptions): Promise<Commit> {
    const first = changes[0];
    const path = first && ("path" in first ? first.path : first.from);
    return attempted(options, path, async way => {
      using resolvedChanges = await this.#resolve(changes, options);
      using locks = await this.#lock(resolvedChanges.keys, options);
      await resolvedChanges.confirmInTurns();
      await applyRules(resolvedChanges, options);
      const commit = await this.#carryOut(resolvedChanges, options, way);
      await locks.release();
      return commit;
    });
  }

  /**
   * Reads files, lets `transform` compute changes from them, and commits these, all under the files' locks: edits of
   * one file queue up, and none is lost. If a program without our locks changes a file in between, the edit starts
   * over with the current content, so `transform` may be called several times.
   */
  edit(
    paths: readonly WorkspacePath[],
    transform: (files: readonly Current[]) => readonly Change[] | Promise<readonly Change[]>,
    options: CommitOptions,
  ): Promise<Commit> {
    const also = new Map<string, string>();
    return attempted(options, paths[0], async found => {
      using places = new HeldDirectories();
      const way = { roots: this.#roots, places, state: this.#store.state.path };
      const targets = await resolveTargets(paths, way, options);
      const keys = new Map([...also, ...targets.map(({ key, path }) => [key, path.given] as const)]);
      const queued = QueuedEdit.of(targets, this.#store, options, transform, way);
      using locks = await this.#lock(keys, options, queued);
      if (queued?.outcome !== undefined) return this.#joined(queued.outcome);
      /** Files count as read only if their directories are still where they were found: inside the roots. */
      const confirmRead = () => {
        if (!places.areCurrent()) throw new ConcurrentChange(paths[0]?.given ?? "");
      };
      if (locks.waited) confirmRead();
      const bases = new Map<string, Buffer | "absent">();
      const asked: (EntryRef & { identity: string })[] = [];
      const files: Current[] = [];
      await inSlices(targets, target => {
        const { path, entry, at } = target;
        const current = places.isNew(entry.place)
          ? undefined
          : currentFile(places, target, { index: files.length, limit: options.maxBytes });
        bases.set(at, current?.bytes ?? "absent");
        if (current !== undefined) asked.push({ ...entry, identity: current.identity });
        files.push({ path, bytes: current && path.root.rules.shown(at, current.bytes, path.given) });
      });
      // Runs in parallel with `transform`. Staging asks again and gets the cached answer.
      askAbout(asked.slice(0, mostAsked), places, this.#copyAttributes).catch(() => {});
      let changes: readonly Change[];
      try {
        changes = await transform(files);
      } catch (error) {
        confirmRead(); // the fault may quote the files
        throw error;
      }
      using resolvedChanges =
        ResolvedChanges.ofWrites(changes, targets, way) ?? (await this.#resolve(changes, options, true));
      if (resolvedChanges.places !== places) confirmRead();
      for (const [key, given] of resolvedChanges.keys) {
        if (!locks.keys.has(key)) also.set(key, given);
      }
      if (also.size > 0 && ![...also.keys()].every(key => locks.keys.has(key)))
        throw new ConcurrentChange("");
      await resolvedChanges.confirmInTurns();
      for (const [i, one] of resolvedChanges.changes.entries())
        resolvedChanges.changes[i] = withBase(one, bases);
      await applyRules(resolvedChanges, options);
      const shared = await SharedCommit.gather(resolvedChanges, options, this.#store);
      const commit = await this.#carryOut(resolvedChanges, options, found, shared).catch(error => {
        if (shared === undefined || shared.isEmpty) throw error;
        shared.release();
        if (error instanceof ConcurrentChange) throw error;
        return this.#carryOut(resolvedChanges, options, found); // it may work without the others
      });
      await locks.release();
      return commit;
    });
  }

  /** The edit that held the lock has made this one as well. */
  async #joined(outcome: NonNullable<QueuedEdit["outcome"]>): Promise<Commit> {
    if ("fault" in outcome) throw outcome.fault;
    if (outcome.commit.files.length > 0) await this.#tell(outcome.commit);
    return outcome.commit;
  }

  #resolve(changes: readonly Change[], options: CommitOptions, edited = false): Promise<ResolvedChanges> {
    return ResolvedChanges.of(this.#roots, this.#store.state.path, changes, options, edited);
  }

  #lock(keys: ReadonlyMap<string, string>, { signal }: CommitOptions, queued?: QueuedEdit): Promise<Locks> {
    return Locks.take(this.#store.state, keys, () => this.#store.recover(), signal, queued);
  }

  async #carryOut(
    resolvedChanges: ResolvedChanges,
    options: CommitOptions,
    { copyDirectories }: Attempt,
    shared?: SharedCommit,
  ): Promise<Commit> {
    const { journals } = this.#store;
    await options.confirm?.();
    if (resolvedChanges.changes.some(({ change }) => change.kind === "remove" && !change.recursive)) {
      await journals.cleared(); // what past commits have yet to clear away must not make a directory look full
    }
    for (const { change } of resolvedChanges.changes) {
      const bytes = "bytes" in change ? change.bytes : undefined;
      // The plan needs the hash of these. Smaller contents are hashed where needed, larger ones not at all.
      if (bytes !== undefined && bytes.length > hashedAtOnce && bytes.length <= mostWaiting)
        await hashInTurns(bytes);
    }
    const { limits, changes: log } = this.#store.archive;
    const { state, departures } = this.#store;
    const { aside } = state;
    const changed = changedIn(resolvedChanges);
    const { given } = resolvedChanges.targets[0]?.path ?? { given: "" };
    const departing = await departingIn(resolvedChanges);
    if (departing.length > 0) departures.refuseInside(changed, departing, given);
    using _announced = departing.length > 0 ? departures.announce(departing) : undefined;
    if (departing.length > 0) {
      await departures.ownOver(departing, options.signal);
      await othersFlushed(this.#store, departing);
    }
    const planned = () => planCommit(resolvedChanges, options, { limits, aside, copyDirectories });
    const sharedPlan = await shared?.plan(planned);
    const together = sharedPlan && shared;
    const plan = sharedPlan ?? (await planned());
    const parts = together?.parts(plan) ?? [
      { by: options.by ?? anonymous, outcomes: plan.outcomes, parents: plan.parents },
    ];
    const { steps, places } = plan;
    const moved = steps.filter(step => step.do === "dismantle" || (step.do === "move" && !step.staged));
    if (moved.length > 0) await othersFlushed(this.#store, pathsOf(moved, places.records));
    using _begun = departures.begin(changed);
    const id = options.id ?? options.publish?.published;
    const ids = id === undefined ? log.newIds(parts.length) : [id];
    const changes: JournalledChange[] = [];
    for (const [i, { by, outcomes, parents }] of parts.entries())
      changes.push({ id: ids[i] as string, account: await gently(pendingRecord(outcomes, by, parents)) });
    const reports = () => parts.map((part, i) => reportOf(ids[i] as string, part, plan));
    if (steps.length === 0) return reports()[0] as Commit;
    const journalState = await journals.enter(together !== undefined);
    try {
      const begin = () => {
        departures.refuseInside(changed, departing, given);
        const isCalm = departures.wasCalmSince(resolvedChanges.since);
        if (!isCalm && !places.areCurrent()) throw new ConcurrentChange(given);
      };
      const confirm = () => {
        refuseUncovering(resolvedChanges);
        together?.confirm();
      };
      const journalled = await this.#write(plan, changes, journalState, options, { begin, confirm });
      const { account } = journalled.intent;
      const frees = resolvedChanges.changes.every(({ change }) => change.kind === "remove");
      // A removal frees its room only when it is recorded, so without room for that it does not wait.
      const isShort = frees && (journals.lacksRoom || freeBelow(this.#store.state.path) < bytesIn(account));
      if (together !== undefined || (!isShort && canWait(account, plan.lasting))) {
        journalState.wait({ ...journalled, contents: contentsOf(plan) });
        const [commit, ...others] = reports();
        const telling = this.#tell(commit as Commit);
        together?.end(others, by => reportOf(log.newId(), { by, outcomes: [], parents: [] }, plan));
        await telling;
        return commit as Commit;
      }
      if (!isShort && isInJournal(journalled, plan)) {
        journalState.wait({ ...journalled, contents: contentsOf(plan) });
        const commit = reports()[0] as Commit;
        await this.#tell(commit);
        await letGo(plan, journalled, journalState);
        return commit;
      }
      const recorded = await this.#remember(journalled, plan, frees);
      const report = await gently(reporting(ids[0] as string, parts[0] as CommitPart, plan));
      const commit = { ...report, recorded: recorded === "later" ? isKept(account) : recorded };
      await this.#tell(commit);
      if (recorded === "later")
        journalState.wait({ ...journalled, contents: contentsOf(plan), held: plan.places.holdOn() });
      else if (await this.#isSafe(account)) await letGo(plan, journalled, journalState);
      else journalState.keepRecorded(journalled);
      return commit;
    } finally {
      journals.leave(journalState);
    }
  }

  /**
   * From intent to done. Throws with everything as it was. `begin` is called when other processes can see the intent, and
   * `confirm` when only the steps are left to do.
   */
  async #write(
    plan: CommitPlan,
    changes: readonly JournalledChange[],
    journalState: JournalState,
    options: CommitOptions,
    { begin, confirm }: { readonly begin: () => void; readonly confirm: () => void },
  ): Promise<JournalledCommit> {
    const { journal } = journalState;
    const { journals } = this.#store;
    const given = plan.steps[0]?.given ?? "";
    const { places, steps, temps, trash } = plan;
    const flushed = await journals.flushBeneath(steps, places);
    const at = { places: places.records, steps, temps, trash };
    const [earlier, { id, account }] = [changes.slice(0, -1), changes.at(-1) as JournalledChange];
    const more = { ...(flushed.length > 0 && { flushed }), ...(earlier.length > 0 && { earlier }) };
    const intent: JournalEntry = { is: "intent", id, boot: bootId(), ...at, account, ...more };
    const inodes: number[] = [];
    const blob = Buffer.concat(plan.blobs);
    const compared = plan.preconditions.filter(comparesContent);
    const scene: StepContext = {
      places,
      inodes,
      blob: range => blob.subarray(range.at, range.at + range.length),
      single: steps.length === 1,
      compared: new Set(compared.map(({ entry }) => entryKey(entry))),
      made: new Map(),
      powerCut: false,
    };
    let begun = false;
    let committed = intent;
    try {
      const json = steps.length > manySteps ? await gently(jsonSteps(intent)) : undefined;
      journals.retry();
      journal.append(intent, [blob], json);
      begin();
      await turnAfter(blob.length + (json?.length ?? 0));
      // Flushing content also makes its temporary name durable: first the journal has to say whose it is.
      if (plan.stages.some(isFlushed)) await journal.flush();
      const { volatile } = this.#store;
      const stages = volatile ? plan.stages.map(withFlush) : plan.stages;
      const staged = await stageAll(stages, places, this.#copyAttributes);
      await inSlices(steps, step => {
        const { from } = step.do === "dismantle" ? { from: step.staged } : step.do === "move" ? step : {};
        inodes.push(from ? (staged.inodes.get(from.name) ?? inodeAt(places, from)) : 0);
      });
      const taken = await this.#take(account, steps, places);
      committed = { ...intent, account: withTaken(account, taken) };
      await inSlices(plan.preconditions, check => verify(check, places));
      options.signal?.throwIfAborted();
      const { publish } = options;
      if (publish !== undefined) {
        await publish.send(publicationOf(id, account.by, plan.outcomes, plan.parents, publish.root));
        publish.published = id;
      }
      begun = true;
      journal.append({ is: "commit", id, inodes, taken });
      const reached = new FlushedDirectories();
      const directories = [...staged.unflushed].map(place =>
        flushReachableLater(places.handle(place), reached),
      );
      const { durableNames } = this.#store;
      const names = flushNamesLater(durableNames.lacking(places), reached);
      await traced("flush", () => Promise.all([...staged.flushing, ...directories, names, journal.flush()]));
      durableNames.note(places);
      confirm(); // a command may have started meanwhile
      if (onWindows) for (const step of steps) await retryWhileBusy(step.given, () => apply(step, scene));
      else await applyAll(steps, scene);
      journalState.unflushed.note(id, steps, places, ({ blob }) => blob === undefined);
      if (this.#copyAttributes) await learnAbout(plan.stages, places, staged.inodes, this.#copyAttributes);
      if (volatile) await journalState.unflushed.flush();
    } catch (error) {
      const journalled: JournalledCommit = { intent, inodes, blob, state: begun ? "abort" : "staged" };
      if (begun) await noteAbort(id, journalState);
      const full = Fault.is(faultOf(error, given), "no_space") && journals.isClearing;
      try {
        if (begun) takeBack(journalled, scene);
        removeAll(temps, places);
        journalState.unflushed.noteRemoved(temps, places);
        if (begun) journal.append({ is: "done", id });
      } catch {
        journalState.unsettled.add({ ...journalled, made: scene.made }); // tried again before the next commit, and after a restart
      }
      if (error instanceof AsideRefused) this.#store.state.forgoAside();
      if (!full) throw faultOf(error, given);
      await journals.settled(); // removing the old content of past commits frees space
      if (journals.lacksRoom) throw faultOf(error, given);
      throw new ConcurrentChange(given);
    }
    try {
      journal.append({ is: "done", id });
    } catch {
      // Recovery would find every step done.
    }
    return { intent: committed, inodes, blob, state: "done" };
  }

  /** Takes new content into the archive that will be in the tree alone, before others can change it there. */
  async #take(
    { files }: PendingRecord,
    steps: readonly Step[],
    places: HeldDirectories,
  ): Promise<Record<number, Taken>> {
    const staged = new Map<string, EntryRef>();
    for (const step of steps) if (step.do === "move" && step.staged) staged.set(entryKey(step.to), step.from);
    const taken: Record<number, Taken> = {};
    for (const [i, { at, after }] of files.entries()) {
      const from = isInTreeAlone(after) && staged.get(entryKey(after.spot));
      if (!from) continue;
      try {
        taken[i] = await gently(this.#store.archive.take(places.address(from), at));
      } catch {
        // It is not kept then, and the answer says so.
      }
    }
    return taken;
  }

  /**
   * Records the commit in the archive. If that fails permanently, the commit remains, without undo; likewise if it frees
   * room that the archive lacks. `later`: it may well succeed then, and old content has to stay until it does.
   */
  async #remember(
    { intent, blob }: JournalledCommit,
    plan: CommitPlan,
    frees: boolean,
  ): Promise<boolean | "later"> {
    const { places } = plan;
    const bytes = (range: ByteRange) => blob.subarray(range.at, range.at + range.length);
    const { archive } = this.#store;
    try {
      return await gently(
        archive.record(intent.id, intent.account, {
          places,
          blob: bytes,
          contents: contentsOf(plan),
          temporary: temporaryNamesOf(intent),
        }),
      );
    } catch (error) {
      if (isShortage(error) || (isWithoutRoom(error) && !frees)) return "later";
      archive.recordUnkept(intent.id, intent.account);
      return false;
    }
  }

  /** Whether old content may go: the journal holds it, or the archive does and was flushed. */
  async #isSafe(account: PendingRecord): Promise<boolean> {
    if (isHeld(account)) return true;
    try {
      await this.#store.archive.flush();
      return true;
    } catch {
      return false; // it stays until a checkpoint can flush the archive
    }
  }

  async #tell(commit: Commit): Promise<void> {
    for (const listener of this.#listeners) {
      try {
        await listener(commit);
      } catch (error) {
        process.emitWarning(error instanceof Error ? error : String(error)); // the commit is already applied
      }
    }
  }
}

/** What earlier attempts at a commit have found out. */
interface Attempt {
  /** A directory cannot be renamed. */
  readonly copyDirectories: boolean;
}

/** Like `again`, in a span that names the change. */
function attempted(
  options: CommitOptions,
  path: WorkspacePath | undefined,
  action: (attempt: Attempt) => Promise<Commit>,
): Promise<Commit> {
  return traced("commit", async span => {
    const commit = await again(options, path, action);
    span?.set("change.id", commit.id);
    span?.set("files", commit.files.length);
    return commit;
  });
}

/** Runs `action` until no concurrent change interferes, and no other program has one of its files open. */
async function again<T>(
  options: CommitOptions,
  path: WorkspacePath | undefined,
  action: (attempt: Attempt) => Promise<T>,
): Promise<T> {
  let copyDirectories = false;
  for (let round = 1; ; round++) {
    const attempt = { copyDirectories };
    const once = () => {
      options.signal?.throwIfAborted();
      return action(attempt);
    };
    try {
      return await retryWhileBusy(path?.given ?? "", once, isBusyOpen);
    } catch (error) {
      if (!(error instanceof ConcurrentChange)) throw faultOf(error, path?.given ?? "");
      if (error instanceof Departing) {
        await error.over(options.signal);
        round--; // nothing was tried
        continue;
      }
      if (error instanceof NotRenamable) copyDirectories = true;
      if (round >= attempts) throw new Fault("changed_meanwhile", { path: error.path });
      if (round > 2) await pause(2 * round * Math.random()); // so that one of several gets through
    }
  }
}

/** Ties a change of a file that the edit read to the bytes it read. */
function withBase(one: ResolvedChange, read: ReadonlyMap<string, Buffer | "absent">): ResolvedChange {
  const base = read.get((one.source ?? one.target)?.at ?? "");
  return base === undefined ? one : { ...one, base };
}

/** Where the journal may be lost, its copy of new content does not count. */
function withFlush(stage: StagedContent): StagedContent {
  return stage.kind === "bytes" ? { ...stage, flush: true } : stage;
}

async function noteAbort(id: string, journalState: JournalState): Promise<void> {
  try {
    journalState.journal.append({ is: "abort", id });
    await journalState.journal.flush();
  } catch {
    // The journal fails too; do what works without it.
  }
}

function inodeAt(places: HeldDirectories, entry: EntryRef): number {
  return sys.lstat(places.address(entry))?.ino ?? 0;
}

/** New contents that the journal does not hold. */
function contentsOf({ stages }: CommitPlan): Map<string, Uint8Array> {
  const large = stages
    .flatMap(one => (one.kind === "bytes" && one.flush ? [one.bytes] : []))
    .filter(bytes => bytes.length <= mostWaiting);
  return new Map(large.map(bytes => [contentHash(bytes), bytes]));
}

const mostFreeing = 64; // each holds a descriptor

/**
 * Whether recording can wait although old content cannot stay where it is: the journal holds the same bytes. Another
 * program may have written into the old file until it was replaced, so they are compared.
 */
function isInJournal({ intent, blob }: JournalledCommit, { places, lasting }: CommitPlan): boolean {
  const { account } = intent;
  const after = account.files.map(({ before: _, replaced: __, ...file }) => file);
  if (bytesIn(account) > mostCompared || !canWait({ ...account, files: after }, lasting)) return false;
  return account.files.every(({ before, replaced }) =>
    [before, replaced].every(old => {
      if (old?.spot === undefined) return true;
      const { at = 0, length = 0 } = old.blob ?? {};
      return old.blob && contentAt(places.address(old.spot))?.equals(blob.subarray(at, at + length));
    }),
  );
}

/**
 * Removes the content that the commit put aside. The answer waits for it, so that a caller never sees a temporary
 * name in a listing; the journal keeps the names until it is done.
 */
async function letGo(
  plan: CommitPlan,
  journalled: JournalledCommit,
  journalState: JournalState,
): Promise<void> {
  const purging = async ({ place, name }: EntryRef): Promise<void> => {
    try {
      const held = plan.places.handle(place);
      const freed = journalState.freeing.size < mostFreeing ? unlinkPinned(held, addressOf(name)) : undefined;
      if (freed !== undefined) {
        void track(freed, journalState.freeing).catch(() => {});
        return;
      }
      using directory = Handle.open(held.address);
      await purgeLater(directory, addressOf(name));
    } catch {
      journalState.unsettled.add(journalled);
    }
  };
  for (let at = 0; at < plan.trash.length; at += mostFreeing) {
    const some = plan.trash.slice(at, at + mostFreeing);
    await Promise.all(some.map(entry => track(purging(entry), journalState.purges)));
  }
  journalState.unflushed.noteRemoved(plan.trash, plan.places);
}

function track(promise: Promise<void>, among: Set<Promise<void>>): Promise<void> {
  const tracked: Promise<void> = promise.finally(() => among.delete(tracked));
  among.add(tracked);
  return tracked;
}
