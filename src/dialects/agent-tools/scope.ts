// The one ignore policy of `glob` and `grep`: hidden files are in, `.git` is out, ignore files count unless the
// caller says otherwise.
import { excludeGlobs } from "../../engine/search/globs.ts";
import type { Scope } from "../../engine/search/walker.ts";

export function covering(ignored: boolean): Scope {
  return ignored
    ? { ignore: { rules: true, hidden: true } }
    : { ignore: { rules: false, hidden: true }, exclude: excludeGlobs(["**/.git"]) };
}
