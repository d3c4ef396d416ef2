// How a directory is kept a replica.

/** See `ReplicaOptions.importMs`. */
export const usualImportMs = 30_000;

export interface ReplicaOptions {
  /** A read trusts an answer of the store that is younger than this. Default: every read asks. */
  readonly trustMs?: number | undefined;
  /** The most bytes that the workspace may have in the store. */
  readonly maxBytes?: number | undefined;
  /** `local`: a change is answered when it is on this machine, and sent to the store afterwards. Default: `store`. */
  readonly durability?: "store" | "local" | undefined;
  /** With more files than this to fetch, a new replica serves single files before it has all. Default 500. */
  readonly waitForFiles?: number | undefined;
  /** An import from which nothing has come for this long has been given up. Default 30 s. */
  readonly importMs?: number | undefined;
  readonly warn?: ((message: string) => void) | undefined;
  readonly info?: ((message: string) => void) | undefined;
}
