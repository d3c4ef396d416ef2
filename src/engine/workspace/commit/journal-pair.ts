// The two journals of this process, used alternately: while one is checkpointed, the other takes new commits. A
// checkpoint runs these steps in order before the journal restarts:
//
//   record   the archive gets every commit of the journal, with old and new content
//   flush    the archive; from here on history survives a power cut without the journal
//   drop     removes old content that commits kept aside
//   flush    the files and directories that commits wrote to
//
// This happens after the answer, and the backlog is bounded: commits that arrive faster than they can be recorded, or
// than their old content can be removed, wait. Otherwise memory would grow, and a caller that asks about history would
// wait for all of them. Where commits wait, the other journal's are recorded while a checkpoint waits for the disk.
//
// Where the archive has no room, commits stay in the backlog with their old content: their answers have promised undo.
// Once the backlog is full, new commits are refused instead (`no_space`).

import { dirname, join } from "node:path";
import { clock } from "../../clock.ts";
import type { Archive } from "../archive/archive.ts";
import { isClockSteady } from "../archive/clock-mark.ts";
import { bytesIn } from "../archive/pending-record.ts";
import type { HeldDirectories } from "../disk/held-directories.ts";
import { faultOf, isShortage, isWithoutRoom, stateDirectory } from "../errno.ts";
import { dropLater, dropNow, recordLater, recordNow } from "./after-commit.ts";
import { Journal } from "./journal.ts";
import { changesOf, type JournalledChange, type JournalledCommit } from "./journalled-commit.ts";
import { settle } from "./recover.ts";
import type { StateDirectory } from "./state.ts";
import type { Step } from "./step.ts";
import { movedEntries, Unflushed } from "./unflushed.ts";

const checkpointMs = 50;
/** How long a checkpoint that failed waits for the next try, at first and at most. */
const retryMs = 1000;
const longestRetryMs = 60_000;
const patienceMs = 2000;
const hurryBytes = 32 * 1024 * 1024;
const mostTries = 20;
/** Commits in progress or waiting to be recorded, and the bytes of those that wait. */
const mostBehind = 64;
const mostBytesBehind = 32 * 1024 * 1024;
/** Recorded commits whose old content is still there, and how many of them are dropped at the same time. */
const mostUndropped = 512;
const droppedAtOnce = 16;
const noBytes = Buffer.alloc(0);
/** Files that the end of the process flushes one by one. More are left to the next process, with their journal. */
const mostAtEnd = 1000;

/** One of the two journals, and what must happen before it can restart. */
export class JournalState {
  readonly #state: StateDirectory;
  readonly #open: () => Journal;
  #journal: Journal | undefined;
  #owner = -1;
  /** What commits have put in place. */
  readonly unflushed = new Unflushed();
  /** Old content on its way out of the workspace. */
  readonly purges = new Set<Promise<void>>();
  /** Old content that has no name any more and still takes up room. */
  readonly freeing = new Set<Promise<void>>();
  readonly #waiting: JournalledCommit[] = [];
  #waitingBytes = 0;
  #waitingChanges = 0;
  /** Commits that are recorded, and whose old content is to be removed once the archive is flushed. */
  readonly recorded = new Set<JournalledCommit>();
  /** Commits that could not be rolled back yet. */
  readonly unsettled = new Set<JournalledCommit>();
  /** Why a commit is still waiting, where the disk of the archive has no room for it. */
  noRoom: unknown;
  /** Commits under way. */
  open = 0;
  /** Whether anything was written into it since it was started. */
  isWritten = false;

  constructor(state: StateDirectory, open: () => Journal) {
    this.#state = state;
    this.#open = open;
  }

  /**
   * Created on first write. Created again if the folder was replaced; commits in progress may still write to the old
   * file, so it is not closed.
   */
  get journal(): Journal {
    if (this.#journal === undefined || this.#owner !== this.#state.ownerInode) {
      isClockSteady(this.#state.path); // leaves the mark that later processes compare with
      this.#journal = this.#open();
      this.#owner = this.#state.ownerInode;
    }
    return this.#journal;
  }

  /** Bytes in use. */
  get size(): number {
    return this.#journal?.size ?? 0;
  }

  /** Leaves a commit to be recorded later. */
  wait(journalled: JournalledCommit): void {
    this.#waiting.push(journalled);
    this.#count(journalled, 1);
  }

  /** Keeps of a commit that was recorded what it takes to remove its old content. */
  keepRecorded(journalled: JournalledCommit): void {
    const intent = { ...journalled.intent, earlier: [] };
    this.recorded.add({ ...journalled, intent, blob: noBytes, contents: undefined });
  }

  /** Forgets a commit that was recorded. */
  done(journalled: JournalledCommit): void {
    const at = this.#waiting.indexOf(journalled);
    if (at < 0) return;
    this.#waiting.splice(at, 1);
    this.#count(journalled, -1);
  }

  #count({ intent }: JournalledCommit, sign: 1 | -1): void {
    for (const { account } of changesOf(intent)) {
      this.#waitingChanges += sign;
      this.#waitingBytes += sign * bytesIn(account);
    }
  }

  /** Commits that the archive has yet to record. */
  get waiting(): readonly JournalledCommit[] {
    return this.#waiting;
  }

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** One commit may hold several. */
  get waitingChanges(): number {
    return this.#waitingChanges;
  }
}

export class JournalPair {
  readonly #state: StateDirectory;
  readonly #archive: Archive;
  readonly #states: [JournalState, JournalState];
  #current = 0;
  #generation = 0;
  #timer: NodeJS.Timeout | undefined;
  /** The same for a checkpoint that failed. Without it, other processes would wait for one until the next commit. */
  #retryTimer: NodeJS.Timeout | undefined;
  #retryMs = retryMs;
  #running: Promise<void> | undefined;
  /** The recordings so far, which take turns: no commit is recorded twice at a time. */
  #recorded: Promise<void> = Promise.resolve();
  #recordingBeside: Promise<void> | undefined;
  readonly #tries = new WeakMap<JournalledCommit, number>();
  /** How many commits were recorded, dropped or given up, and the callers waiting for that. */
  #progress = 0;
  readonly #eased: (() => void)[] = [];

  constructor(state: StateDirectory, archive: Archive) {
    this.#state = state;
    this.#archive = archive;
    archive.catchUp = () => this.#catchUp();
    this.#states = [this.#newState(0), this.#newState(1)];
  }

  #newState(index: 0 | 1): JournalState {
    const { own, path: state } = this.#state;
    const path = join(own, `journal-${index}`);
    const folders = [this.#state.owner, own, dirname(own), state, dirname(state)];
    return new JournalState(
      this.#state,
      () => new Journal(path, ++this.#generation, this.#state.key, folders),
    );
  }

  /**
   * The journal for a commit that begins, when there is room for one more. `hasWaited`: it has waited for room before, and
   * goes first. Faults: `no_space`.
   */
  async enter(hasWaited = false): Promise<JournalState> {
    // An archive that fails for another reason than a full disk does not block writes.
    for (let futile = 0; futile < 2 && this.#isBehind; ) if (!(await this.#madeProgress(hasWaited))) futile++;
    const { noRoom } = this.#states.find(one => one.noRoom !== undefined) ?? {};
    if (noRoom !== undefined && this.#isBehind) throw faultOf(noRoom, stateDirectory);
    const journalState = this.#states[this.#current === 0 ? 0 : 1];
    journalState.open++;
    journalState.isWritten = true;
    return journalState;
  }

  /** Waits like a commit that begins. Others may begin meanwhile. */
  async room(): Promise<void> {
    for (let futile = 0; futile < 2 && this.#isBehind; ) if (!(await this.#madeProgress())) futile++;
  }

  /** Works on the backlog, and resolves when some of it may be done. */
  async #madeProgress(isFirst = false): Promise<boolean> {
    const before = this.#progress;
    const eased = new Promise<void>(resolve => {
      if (isFirst) this.#eased.unshift(resolve);
      else this.#eased.push(resolve);
    });
    void this.checkpoint();
    this.#recordBeside();
    await eased;
    return this.#progress > before;
  }

  /**
   * Records what waits in both journals. A checkpoint that flushes one of them records nothing, and commits would wait for
   * the disk. What fails is left to the checkpoint.
   */
  #recordBeside(): void {
    const record = async () => {
      for (let before = -1; before < this.#progress && this.#eased.length > 0; ) {
        before = this.#progress;
        for (const journalState of this.#inOrder()) await this.#record(journalState, false);
      }
    };
    this.#recordingBeside ??= record()
      .catch(() => {})
      .finally(() => {
        this.#recordingBeside = undefined;
      });
  }

  /** Whether a commit is still waiting because the archive had no room for it. */
  get lacksRoom(): boolean {
    return this.#states.some(({ noRoom }) => noRoom !== undefined);
  }

  get #isBehind(): boolean {
    const [a, b] = this.#states;
    return (
      a.open + b.open + a.waitingChanges + b.waitingChanges >= mostBehind ||
      a.waitingBytes + b.waitingBytes > mostBytesBehind ||
      a.recorded.size + b.recorded.size >= mostUndropped ||
      Math.max(a.size, b.size) > hurryBytes
    );
  }

  /** Wakes the commits that wait for space. */
  #ease(): void {
    for (const wake of this.#eased.splice(0)) wake();
  }

  /**
   * Before something is moved or removed, what earlier commits wrote there is flushed: after a power cut, recovery can
   * write content again only where the journal says that it is. Returns the commits of which all was flushed.
   */
  async flushBeneath(steps: readonly Step[], places: HeldDirectories): Promise<string[]> {
    const moved = movedEntries(steps);
    if (moved.length === 0) return [];
    for (const journalState of this.#states) {
      const overlaps = moved.some(({ place, name }) => {
        const record = places.records[place];
        return record !== undefined && "at" in record && journalState.unflushed.overlaps(record.at, name);
      });
      if (overlaps) await journalState.unflushed.flush();
    }
    return this.#states.flatMap(journalState => [...journalState.unflushed.flushed]);
  }

  leave(journalState: JournalState): void {
    journalState.open--;
    if (this.#eased.length > 0) this.#recordBeside();
    this.#schedule();
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.checkpoint();
    }, checkpointMs).unref();
  }

  #scheduleRetry(): void {
    this.#retryTimer ??= setTimeout(() => {
      this.#retryTimer = undefined;
      void this.checkpoint();
    }, this.#retryMs).unref();
    this.#retryMs = Math.min(2 * this.#retryMs, longestRetryMs);
  }

  /** Whether old content of past commits is still being removed. */
  get isClearing(): boolean {
    return this.#states.some(
      ({ purges, freeing, waiting, recorded }) =>
        purges.size + freeing.size + waiting.length + recorded.size > 0,
    );
  }

  /** Resolves when all old content of past commits is gone from the workspace. */
  async cleared(): Promise<void> {
    for (const journalState of this.#states) await Promise.allSettled(journalState.purges);
  }

  /** Resolves when it also takes up no more disk space, and past commits are recorded. */
  async settled(): Promise<void> {
    for (const journalState of this.#inOrder()) {
      await this.#record(journalState);
      await this.#drop(journalState).catch(() => {}); // the next checkpoint tries again
      await Promise.allSettled([...journalState.purges, ...journalState.freeing]);
    }
  }

  /**
   * Resolves when no commit is in progress, or after `patienceMs`. Everything that has ended by then is in the
   * archive.
   */
  async idle(): Promise<void> {
    const until = clock() + patienceMs;
    while (this.#states.some(journalState => journalState.open > 0) && clock() < until)
      await new Promise(resolve => setTimeout(resolve, 2));
  }

  /** The one with the older commits comes first. */
  #inOrder(): JournalState[] {
    return this.#current === 0 ? this.#states.toReversed() : [...this.#states];
  }

  /** Records the backlog before a caller reads the archive. */
  #catchUp(): void {
    for (const journalState of this.#inOrder()) {
      for (const journalled of [...journalState.waiting]) {
        try {
          recordNow(journalled, this.#archive);
          this.#done(journalState, journalled);
          journalState.keepRecorded(journalled);
        } catch {
          // The next checkpoint tries again. Until then history must not end before this change.
          for (const { id, account } of this.#unrecorded(journalled))
            this.#archive.noteUnrecorded(id, account);
        }
      }
      if (journalState.waiting.length === 0) journalState.noRoom = undefined;
    }
  }

  #unrecorded({ intent }: JournalledCommit): JournalledChange[] {
    return changesOf(intent).filter(({ id }) => this.#archive.changes.recorded(id) === undefined);
  }

  /**
   * The same in slices. If the archive fails permanently, the commit stays, and history notes that it happened.
   * `mayGiveUp`: whether this counts as a try.
   */
  #record(journalState: JournalState, mayGiveUp = true): Promise<void> {
    const recorded = this.#recorded.then(() => this.#recordInTurn(journalState, mayGiveUp));
    this.#recorded = recorded.catch(() => {});
    return recorded;
  }

  async #recordInTurn(journalState: JournalState, mayGiveUp: boolean): Promise<void> {
    let noRoom: unknown;
    for (const journalled of [...journalState.waiting]) {
      try {
        await recordLater(journalled, this.#archive);
        journalState.keepRecorded(journalled);
      } catch (error) {
        if (isWithoutRoom(error)) {
          noRoom = error;
          continue;
        }
        if (!mayGiveUp) continue;
        const tries = (this.#tries.get(journalled) ?? 0) + 1;
        this.#tries.set(journalled, tries);
        if (tries < mostTries || (isShortage(error) && journalState.waiting.length < mostUndropped)) continue;
        for (const { id, account } of this.#unrecorded(journalled)) this.#archive.recordUnkept(id, account);
        journalState.unsettled.add(journalled); // its old content still has to be removed
      }
      this.#done(journalState, journalled);
      await new Promise(resolve => setImmediate(resolve));
    }
    journalState.noRoom = noRoom;
  }

  /** Flushes the archive, and removes the old content of recorded commits. */
  async #drop(journalState: JournalState): Promise<void> {
    const recorded = [...journalState.recorded];
    await this.#archive.flush();
    const drop = async (journalled: JournalledCommit) => {
      const isDropped = await dropLater(journalled, journalState.unflushed).then(
        () => true,
        () => false,
      );
      if (journalState.recorded.delete(journalled) && !isDropped) journalState.unsettled.add(journalled);
    };
    for (let at = 0; at < recorded.length; at += droppedAtOnce) {
      await Promise.all(recorded.slice(at, at + droppedAtOnce).map(drop));
      this.#progress++;
      this.#ease();
    }
  }

  #done(journalState: JournalState, journalled: JournalledCommit): void {
    journalState.done(journalled);
    this.#progress++;
    this.#ease();
  }

  /** Retries the commits that could not be rolled back. */
  retry(): void {
    for (const journalState of this.#states) {
      for (const journalled of [...journalState.unsettled]) {
        try {
          settle(journalled, undefined, journalState.unflushed);
          journalState.unsettled.delete(journalled);
        } catch {
          // Never forgotten: the journal restarts once none is left.
        }
      }
    }
  }

  /** At process exit: flushes what is unflushed, and returns whether nothing is left to do. */
  closeNow(): boolean {
    if (this.#states.some(({ open, purges, unsettled }) => open + purges.size + unsettled.size > 0))
      return false;
    this.#catchUp();
    this.#archive.flushNow(mostAtEnd);
    for (const journalState of this.#states) {
      for (const journalled of journalState.recorded) dropNow(journalled, journalState.unflushed);
      journalState.recorded.clear();
      journalState.unflushed.flushNow(mostAtEnd);
    }
    return this.#states.every(journalState => journalState.waiting.length === 0);
  }

  /** Flushes and forgets the current journal, while the other one takes over. One at a time. */
  checkpoint(): Promise<void> {
    this.#running ??= this.#checkpoint().finally(() => {
      this.#running = undefined;
      this.#ease();
    });
    return this.#running;
  }

  async #checkpoint(): Promise<void> {
    const [journalState, other] = this.#current === 0 ? this.#states : this.#states.toReversed();
    if (journalState === undefined || other === undefined) return;
    // A journal that could not be cleared the last time comes first: its records are older.
    if (other.isWritten && !(await this.#clear(other))) {
      this.#scheduleRetry();
      return this.#record(journalState);
    }
    this.#retryMs = retryMs;
    if (!journalState.isWritten) return;
    this.#current = 1 - this.#current;
    while (journalState.open > 0) await new Promise(resolve => setTimeout(resolve, 5));
    if (!(await this.#clear(journalState))) return this.#scheduleRetry();
    if (other.isWritten) this.#schedule();
  }

  /** Whether everything in the journal is durable elsewhere. If not, the journal keeps its records. */
  async #clear(journalState: JournalState): Promise<boolean> {
    try {
      await Promise.allSettled(journalState.purges);
      this.retry();
      await this.#record(journalState);
      await this.#drop(journalState);
      await journalState.unflushed.flush();
      if (journalState.unsettled.size + journalState.waiting.length + journalState.recorded.size > 0)
        return false;
      await journalState.journal.restart(++this.#generation);
      journalState.isWritten = false;
      journalState.unflushed.flushed.clear();
      return true;
    } catch {
      return false;
    }
  }
}
