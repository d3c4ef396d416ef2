// Where a directory is, existing or not. What exists of its path is held, so that two can be compared.
import { basename, dirname, join } from "node:path";
import { Handle } from "./handle.ts";
import { isWithin } from "./root.ts";
import { areApart, type InnerPath, innerPathOf } from "./system/mounts.ts";

export class Location implements Disposable {
  /** The canonical path, its bytes as Latin-1: links on the way count. */
  readonly path: string;
  /** The nearest directory that exists; undefined if none can be opened. */
  readonly #nearest: Handle | undefined;
  /** What is missing below that. */
  readonly #missing: string;

  constructor(path: string) {
    let missing = "";
    for (let at = path; ; at = dirname(at)) {
      this.#nearest = openIfPossible(at);
      if (this.#nearest !== undefined || dirname(at) === at) {
        this.path = join(this.#nearest?.whereabouts() ?? at, missing);
        break;
      }
      missing = join(Buffer.from(basename(at)).toString("latin1"), missing);
    }
    this.#missing = missing;
  }

  /** Whether this is that directory or is inside it, regardless of where either is mounted. */
  isIn(directory: Location): boolean {
    if (isWithin(this.path, directory.path)) return true;
    if (this.#nearest === undefined || directory.#nearest === undefined) return false;
    if (areApart(this.#nearest, directory.#nearest)) return false;
    const [inner, outer] = [this.#inner(), directory.#inner()];
    if (inner === undefined || outer === undefined || inner.device !== outer.device) return false;
    return isWithin(inner.path, outer.path);
  }

  #inner(): InnerPath | undefined {
    const inner = this.#nearest && innerPathOf(this.#nearest);
    return inner && { ...inner, path: join(inner.path, this.#missing) };
  }

  [Symbol.dispose](): void {
    this.#nearest?.close();
  }
}

function openIfPossible(path: string): Handle | undefined {
  try {
    return Handle.open(path);
  } catch {
    return undefined;
  }
}
