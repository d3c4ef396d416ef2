// Which contents were read from which file. The hash of a content is neither a secret nor a permission: a version is
// looked up for a file, and the content of another file is not a version of this one.
//
// A sighting is a small object in a separate store, so that a caller cannot forge one by writing a file.
import { clock } from "../../clock.ts";
import { contentHash } from "../../text/version.ts";
import type { Steps } from "../footprint/time-slice.ts";
import { Objects } from "./objects.ts";

/** Not flushed: if one is lost, an edit against that version is refused instead of merged, and no data is lost. */
const unflushed = { add() {} };

/** A file that is read over and over is not noted each time. Much less than the age at which objects are removed. */
const recentMs = 10_000;
const mostRecent = 1000;

export class Sightings {
  readonly #marks: Objects;
  /** When each was added, by this process's clock. */
  readonly #recent = new Map<string, number>();

  constructor(state: string) {
    this.#marks = new Objects(state, () => {}, unflushed, "seen");
  }

  /** The file at `at`, an absolute path, was seen with the content of this hash. */
  add(at: string, hash: string): void {
    this.#marks.put(mark(at, hash));
    if (this.#recent.size >= mostRecent) this.#recent.clear();
    this.#recent.set(`${hash} ${at}`, clock());
  }

  /** Whether this process added it a moment ago. */
  isRecent(at: string, hash: string): boolean {
    const added = this.#recent.get(`${hash} ${at}`);
    return added !== undefined && clock() - added < recentMs;
  }

  has(at: string, hash: string): boolean {
    return this.#marks.has(contentHash(mark(at, hash)));
  }

  clear(maxBytes: number, maxAgeMs: number): Steps<number> {
    return this.#marks.clear(maxBytes, maxAgeMs);
  }
}

function mark(at: string, hash: string): Buffer {
  return Buffer.from(`${hash} ${at}`);
}
