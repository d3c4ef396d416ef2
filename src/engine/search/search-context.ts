// What the runners of one search share, and where one hands over to the next.

import type { Directory } from "../workspace/directory.ts";
import type { EarlyStart } from "./early-start.ts";
import type { PathPosition } from "./first-blocks.ts";
import type { GrepOptions, GrepReport } from "./grep-terms.ts";
import type { IgnoreContext } from "./ignore-context.ts";
import type { Finder } from "./lines-with.ts";
import type { Query } from "./ripgrep.ts";
import type { Widened } from "./widen.ts";
import type { WorkSlice } from "./work-slice.ts";

/** A search, with what its runners share. */
export interface SearchContext {
  readonly start: Directory;
  readonly query: Query;
  /** Finds the query in process; undefined if that is not possible. */
  readonly find: Finder | undefined;
  readonly options: GrepOptions;
  readonly report: GrepReport;
  readonly slice: WorkSlice;
  readonly early: EarlyStart;
  readonly context: () => IgnoreContext;
  /** The query as ripgrep gets it, where files may have other encodings. */
  readonly wider: () => Promise<Widened | undefined>;
}

/** Where ripgrep takes over: after a position, or from the start. */
export interface Handover {
  readonly behind: PathPosition | undefined;
  /** How many hits were given. */
  readonly hits: number;
}
