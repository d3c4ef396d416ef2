// Whether one path is inside another, by their spelling alone.

/** Whether `path` is `directory` or is below it. Both are absolute and without `.` or `..`. */
export function isWithin(path: string, directory: string): boolean {
  if (!path.startsWith(directory)) return false;
  return path.length === directory.length || directory.endsWith("/") || path[directory.length] === "/";
}

/** Whether one of two paths is the other or is below it. */
export function isRelated(one: string, other: string): boolean {
  return isWithin(one, other) || isWithin(other, one);
}

/** A set of paths. A lookup takes time proportional to the depth of the path, not to the size of the set. */
export class RelatedPaths {
  readonly #paths = new Set<string>();
  /** The directories above them. */
  readonly #above = new Set<string>();

  add(path: string): void {
    if (this.#paths.has(path)) return;
    this.#paths.add(path);
    for (const directory of directoriesAbove(path)) {
      if (this.#above.has(directory)) break; // and so are those above it
      this.#above.add(directory);
    }
  }

  /** Whether one of them is this path, is above it, or is below it. */
  has(path: string): boolean {
    if (this.#paths.has(path) || this.#above.has(path)) return true;
    for (const directory of directoriesAbove(path)) if (this.#paths.has(directory)) return true;
    return false;
  }
}

/** From the nearest to the farthest; "" stands for the root of what is absolute. */
function* directoriesAbove(path: string): Generator<string> {
  for (let end = path.lastIndexOf("/"); end >= 0; end = path.lastIndexOf("/", end - 1)) {
    yield path.slice(0, end);
    if (end === 0) return;
  }
}
