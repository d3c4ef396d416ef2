// Files that a search may miss: those without a hit for text beyond ASCII, whose encoding nothing shows. The report
// names the first of them, so that an answer can say what was not found out.
import { isAscii } from "node:buffer";
import type { GrepOptions, GrepReport } from "./grep-terms.ts";
import { isUndecoded } from "./readable.ts";
import type { Query } from "./ripgrep.ts";

const mostNamed = 4;

export function noteUndecoded(
  report: GrepReport,
  { pattern }: Query,
  path: string,
  bytes: Buffer,
  { reading }: GrepOptions,
): void {
  const known = report.undecoded ?? [];
  if (known.length >= mostNamed || isAscii(Buffer.from(pattern)) || !isUndecoded(bytes, reading)) return;
  report.undecoded = [...known, path];
}
