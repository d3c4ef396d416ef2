// Changes that were answered and are not in the store yet (`durability: "local"`), in order. Before the first of them
// happens, the revision that they build on is noted on the disk: after a crash they are found by comparing the
// directory with that revision, and sent then.
import type { Revision } from "../store/store.ts";
import type { Publication } from "../workspace/commit/publish.ts";
import type { ReplicaNote } from "./replica-note.ts";

/** With more than this, a write waits until some are sent. */
const mostChanges = 1000;
const mostBytes = 64 * 1024 * 1024;
/** The note outlives the last change by this much, so that a busy workspace does not write it for every change. */
const idleMs = 1000;

export class UnsentChanges {
  readonly #note: ReplicaNote;
  readonly #queue: Publication[] = [];
  #bytes = 0;
  #noted: Revision | undefined;
  #forgetting: NodeJS.Timeout | undefined;
  /** Changes of others were applied over them, so the difference between directory and log is sent. */
  mixed = false;

  constructor(note: ReplicaNote) {
    this.#note = note;
    this.#noted = note.unsentSince;
  }

  get isEmpty(): boolean {
    return this.#queue.length === 0;
  }

  /** Whether the directory may hold something that was promised to the others. */
  get isExpected(): boolean {
    return this.#noted !== undefined;
  }

  get isFull(): boolean {
    return this.#queue.length >= mostChanges || this.#bytes >= mostBytes;
  }

  get first(): Publication | undefined {
    return this.#queue[0];
  }

  /** Before a change happens that is built on this revision. */
  expect(revision: Revision): void {
    clearTimeout(this.#forgetting);
    if (this.#noted !== undefined) return;
    this.#note.noteUnsent(revision);
    this.#noted = revision;
  }

  /** The directory has everything up to this revision. Compared with an older one, sent changes would look unsent. */
  reached(revision: Revision): void {
    if (this.#noted === undefined) return;
    this.#note.noteUnsent(revision, { flush: false });
    this.#noted = revision;
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
    if (this.#noted === undefined || !this.isEmpty) return;
    this.#noted = undefined;
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
