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

/** Whether a path is below one of these directories. Takes time proportional to the depth of the path. */
export function isBelowAny(path: string, directories: ReadonlySet<string>): boolean {
  if (directories.size === 0) return false;
  for (const above of pathsAbove(path)) if (directories.has(above || "/")) return true;
  return false;
}

/** The same, or whether it is one of them. */
export function isWithinAny(path: string, directories: ReadonlySet<string>): boolean {
  return directories.has(path) || isBelowAny(path, directories);
}

/** Those of some paths that are not below another one. */
export function outermost(paths: Iterable<string>): string[] {
  const all = new Set(paths);
  return [...all].filter(path => !isBelowAny(path, all));
}

/** A set of paths. A lookup takes time proportional to the depth of the path, not to the size of the set. */
export class RelatedPaths {
  readonly #paths = new Set<string>();
  /** The directories above them. */
  readonly #above = new Set<string>();

  add(path: string): void {
    if (this.#paths.has(path)) return;
    this.#paths.add(path);
    for (const directory of pathsAbove(path)) {
      if (this.#above.has(directory)) break; // and so are those above it
      this.#above.add(directory);
    }
  }

  /** Whether one of them is this path, is above it, or is below it. */
  has(path: string): boolean {
    return this.#above.has(path) || this.isWithin(path);
  }

  /** Whether one of them is this path, or is above it. */
  isWithin(path: string): boolean {
    return isWithinAny(path, this.#paths);
  }

  [Symbol.iterator](): Iterator<string> {
    return this.#paths[Symbol.iterator]();
  }
}

/** Values by absolute path. Those below a directory are found in time proportional to their number. */
export class PathMap<T> {
  readonly #values = new Map<string, T>();
  /** By directory, the entries that have a value or lead to one. */
  readonly #entries = new Map<string, Set<string>>();

  get(path: string): T | undefined {
    return this.#values.get(path);
  }

  has(path: string): boolean {
    return this.#values.has(path);
  }

  set(path: string, value: T): void {
    const isThere = this.#values.has(path) || this.#entries.has(path);
    this.#values.set(path, value);
    if (isThere) return;
    let entry = path;
    for (const directory of pathsAbove(path)) {
      const entries = this.#entries.get(directory);
      if (entries === undefined) this.#entries.set(directory, new Set([entry]));
      else entries.add(entry);
      if (entries !== undefined || this.#values.has(directory)) break; // it is in the index
      entry = directory;
    }
  }

  delete(path: string): void {
    if (!this.#values.delete(path)) return;
    let entry = path;
    for (const directory of pathsAbove(path)) {
      if (this.#values.has(entry) || this.#entries.has(entry)) return;
      const entries = this.#entries.get(directory);
      entries?.delete(entry);
      if (entries?.size === 0) this.#entries.delete(directory);
      entry = directory;
    }
  }

  get isEmpty(): boolean {
    return this.#values.size === 0;
  }

  hasBelow(directory: string): boolean {
    return this.#entries.has(directory);
  }

  /** Those at and below a path, directories before their entries. */
  within(path: string): [string, T][] {
    const found: [string, T][] = [];
    const left = [path];
    for (let at = left.pop(); at !== undefined; at = left.pop()) {
      if (this.#values.has(at)) found.push([at, this.#values.get(at) as T]);
      for (const entry of this.#entries.get(at) ?? []) left.push(entry);
    }
    return found;
  }

  [Symbol.iterator](): Iterator<[string, T]> {
    return this.#values[Symbol.iterator]();
  }
}

/** From the nearest to the farthest; "" stands for the root of what is absolute. */
export function* pathsAbove(path: string): Generator<string> {
  for (let end = path.lastIndexOf("/"); end >= 0; end = path.lastIndexOf("/", end - 1)) {
    yield path.slice(0, end);
    if (end === 0) return;
  }
}
