// Which way a search goes. One table:
//
//   the query                                    where                       strategy
//   plain text with a line break, line by line   anywhere                    nothing
//   any                                          one named file              file
//   plain text                                   a tree searched before      process
//   plain text                                   a tree, for the first time  both
//   any other                                    a tree                      ripgrep
//
// An expression of nothing but characters is plain text, too (literal.ts).
//
// In process, the first files in path order are read and searched here: a small tree is searched before ripgrep would
// have started, and the first hits of a common word are found at once; what takes longer is handed over to ripgrep. The
// first search below a root starts ripgrep at once, because nothing of ours is compiled yet.
import type { Query } from "./ripgrep.ts";

export type Strategy = "nothing" | "file" | "process" | "both" | "ripgrep";

export interface SearchFacts {
  /** Whether a single file is searched. */
  readonly isFile: boolean;
  /** Whether the query can be searched for in process. */
  readonly isPlain: boolean;
  /** Whether anything below the root was searched before. */
  readonly wasSearched: boolean;
}

export function chooseStrategy(query: Query, { isFile, isPlain, wasSearched }: SearchFacts): Strategy {
  if (query.literal && !query.multiline && query.pattern.includes("\n")) return "nothing";
  if (isFile) return "file";
  if (!isPlain) return "ripgrep";
  return wasSearched ? "process" : "both";
}
