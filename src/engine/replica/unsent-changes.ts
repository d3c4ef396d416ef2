// Changes that were answered and are not in the store yet (`durability: "local"`), in order. Before the first of them
// happens, the entry that they build on is noted on the disk: after a crash they are found by comparing the
// directory with the tree at that entry, and sent then.
import type { Publication } from "../workspace/commit/publish.ts";
import type { EntryPlace, ReplicaNote } from "./replica-note.ts";

/** With more than this, a write waits until some are sent. */
const mostChanges = 1000;
const mostBytes = 64 * 1024 * 1024;
/** The note outlives the last change by this much, so that a busy workspace does not write it for every change. */
const idleMs = 1000;

export class UnsentChanges {
  readonly #note: ReplicaNote;
  readonly #queue: Publication[] = [];
  #bytes = 0;
  #isNoted: boolean;
  #forgetting: NodeJS.Timeout | undefined;
  /** Changes of others were applied over them, so the difference between directory and log is sent. */
  mixed = false;
  /** Commands have changed files, and were told that the others get these later. */
  commandsWait = false;

  constructor(note: ReplicaNote) {
    this.#note = note;
    this.#isNoted = note.unsentSince !== undefined;
  }

  get isEmpty(): boolean {
    return this.#queue.length === 0;
  }

  /** Whether the directory may hold something that was promised to the others. */
  get isExpected(): boolean {
    return this.#isNoted;
  }

  get isFull(): boolean {
    return this.#queue.length >= mostChanges || this.#bytes >= mostBytes;
  }

  get first(): Publication | undefined {
    return this.#queue[0];
  }

  /** Before a change happens that is built on this entry. */
  expect(head: EntryPlace): void {
    clearTimeout(this.#forgetting);
    if (this.#isNoted) return;
    this.#note.noteUnsent(head);
    this.#isNoted = true;
  }

  /** The directory has everything up to this entry. Compared with an older one, sent changes would look unsent. */
  reached(head: EntryPlace): void {
    if (this.#isNoted) this.#note.noteUnsent(head, { flush: false });
  }

  add(publication: Publication): void {
    this.#queue.push(publication);
    this.#bytes += sizeOf(publication);
  }

  sent(): void {
    const first = this.#queue.shift();
    if (first !== undefined) this.#bytes -= sizeOf(first);
    if (this.isEmpty) this.#forgetSoon();
  }

  allSent(): void {
    this.#queue.length = 0;
    this.#bytes = 0;
    this.mixed = false;
    this.#forgetSoon();
  }

  /** The directory holds what the log says, and nothing else. */
  forget(): void {
    clearTimeout(this.#forgetting);
    if (!this.#isNoted || !this.isEmpty || this.commandsWait) return;
    this.#isNoted = false;
    this.#note.noteUnsent(undefined);
  }

  #forgetSoon(): void {
    clearTimeout(this.#forgetting);
    this.#forgetting = setTimeout(() => this.forget(), idleMs).unref();
  }
}

function sizeOf({ contents }: Publication): number {
  return [...contents.values()].reduce((sum, { length }) => sum + length, 0);
}
