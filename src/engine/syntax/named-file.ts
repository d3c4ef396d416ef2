// A file that holds a name, as far as finding out what the name means is concerned.

export interface NamedFile {
  /** Absolute, or any path by which relative imports can be followed. */
  readonly path: string;
  readonly text: string;
}
