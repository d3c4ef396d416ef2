// What servers are asked to do, in words of our own. An adapter says which calls of its server do a job; a job that
// it has no line for is one that the server cannot do.

export interface Edit {
  readonly old: string;
  readonly new: string;
  /** The line of `old`, counted from 1. */
  readonly line: number;
}

export interface Jobs {
  read: { readonly path: string; readonly bytes: number };
  readMany: { readonly paths: readonly string[] };
  lines: { readonly path: string; readonly first: number; readonly count: number };
  tail: { readonly path: string; readonly count: number };
  list: { readonly path: string };
  /** Everything below a directory but what git ignores. */
  tree: { readonly path: string };
  /** Files at any depth whose names end so. */
  glob: { readonly path: string; readonly ending: string };
  search: {
    readonly path: string;
    readonly pattern: string;
    readonly regex?: boolean;
    readonly limit?: number;
    /** Whether `path` is a file. */
    readonly single?: boolean;
  };
  write: { readonly path: string; readonly content: string };
  edit: { readonly path: string; readonly edits: readonly Edit[] };
  /** The same change twice: as a diff with names below `root`, and as edits for servers that know no patches. */
  patch: {
    readonly root: string;
    readonly diff: string;
    readonly files: readonly { readonly path: string; readonly edits: readonly Edit[] }[];
  };
}

export type JobKind = keyof Jobs;
export type Job<K extends JobKind = JobKind> = {
  [P in K]: { readonly kind: P; readonly what: Jobs[P] };
}[K];

export interface Call {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Where a server answers in steps: the call after this answer. */
  readonly next?: (answer: string) => Call | undefined;
}

/** The calls that do a job; several are sent at once. Undefined if the server cannot do this one. */
export type Calls = { readonly [K in JobKind]?: (what: Jobs[K]) => Call | readonly Call[] | undefined };

export function callsFor<K extends JobKind>(
  calls: Calls,
  { kind, what }: Job<K>,
): readonly Call[] | undefined {
  const found = calls[kind]?.(what);
  return found === undefined || Array.isArray(found) ? found : [found as Call];
}

export function call(tool: string, args: Readonly<Record<string, unknown>>): Call {
  return { tool, arguments: args };
}
