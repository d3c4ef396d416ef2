// Which contents were read from which file. The hash of a content is neither a secret nor a permission: a version is
// looked up for a file, and the content of another file is not a version of this one.
//
// A sighting is a small object in a separate store, so that a caller cannot forge one by writing a file.
import { contentHash } from "../../text/version.ts";
import { Objects } from "./objects.ts";

/** Where one is lost, an edit against that version is refused instead of merged: nothing that needs a flush. */
const unflushed = { add() {} };

export class Sightings {
  readonly #marks: Objects;

  constructor(state: string) {
    this.#marks = new Objects(state, () => {}, unflushed, "seen");
  }

  /** The file at `at`, an absolute path, was seen with the content of this hash. */
  add(at: string, hash: string): void {
    this.#marks.put(mark(at, hash));
  }

  has(at: string, hash: string): boolean {
    return this.#marks.has(contentHash(mark(at, hash)));
  }

  clear(maxBytes: number, maxAgeMs: number): Generator<void> {
    return this.#marks.clear(maxBytes, maxAgeMs);
  }
}

function mark(at: string, hash: string): Buffer {
  return Buffer.from(`${hash} ${at}`);
}
