// Files that are not UTF-8, for a query that ripgrep cannot be given in a wider form (widen.ts): one with look-around,
// inline flags or line breaks. A second run names these files, and each is decoded and searched with the query itself.
import type { HitBlock, PathPosition } from "./first-blocks.ts";
import { compareBytes } from "./order.ts";
import type { Query } from "./ripgrep.ts";
import type { RipgrepResult } from "./ripgrep-run.ts";

/** Matches a line with a zero byte, as text in UTF-16 has them, or with bytes that are not UTF-8. */
export const foreignBytes: Query = {
  pattern: `(?-u:${[
    "\\x00",
    "[\\xc0\\xc1\\xf5-\\xff]",
    "(?:^|[\\x00-\\x7f])[\\x80-\\xbf]",
    "[\\xc2-\\xf4](?:[^\\x80-\\xbf]|$)",
    "[\\xc2-\\xdf][\\x80-\\xbf]{2}",
    "[\\xe0-\\xf4][\\x80-\\xbf](?:[^\\x80-\\xbf]|$)",
    "[\\xe0-\\xef][\\x80-\\xbf]{3}",
    "[\\xf0-\\xf4][\\x80-\\xbf]{2}(?:[^\\x80-\\xbf]|$)",
    "[\\xf0-\\xf4][\\x80-\\xbf]{4}",
  ].join("|")})`,
};

/** What a run found behind a position, together with the foreign files among it. */
export function withForeign(
  found: RipgrepResult,
  foreign: readonly HitBlock[],
  behind: PathPosition | undefined,
): RipgrepResult {
  const last = found.trimmed ? found.blocks.at(-1) : undefined;
  const known = new Set(found.blocks.map(({ path }) => path));
  const more = foreign.filter(
    ({ path }) =>
      !known.has(path) &&
      (behind === undefined || compareBytes(path, behind.path) > 0) &&
      (last === undefined || compareBytes(path, last.path) < 0),
  );
  if (more.length === 0) return found;
  const added = more.map(block => ({ ...block, lines: [], proof: undefined, isForeign: true }));
  return { ...found, blocks: [...found.blocks, ...added].sort((a, b) => compareBytes(a.path, b.path)) };
}
