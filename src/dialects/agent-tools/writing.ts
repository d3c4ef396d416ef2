// How this contract writes: links are never written through, and a file's other names keep their bytes unless the
// user decided otherwise; either way the answer says that there are some.
import type { CallContext } from "../../contract/context.ts";
import type { Settings } from "../../contract/settings.ts";
import type { Commit, CommitOptions } from "../../engine/workspace/commit/change.ts";

export function writing({ settings, signal }: CallContext): CommitOptions {
  return {
    links: "refuse",
    hardLinks: settings.hardLinks,
    signal,
  };
}

/** A sentence about hard links of the files; "" if there are none. */
export function otherNames({ files }: Commit, { hardLinks }: Settings): string {
  const touched = files.filter(file => file.effect === "modified" && file.otherNames > 0);
  if (touched.length === 0) return "";
  const names = touched.reduce((sum, file) => sum + file.otherNames, 0);
  const others = names === 1 ? "1 other hard link" : `${names} other hard links`;
  const keep = names === 1 ? "keeps" : "keep";
  return hardLinks === "keep"
    ? ` Note: ${others} to the same file changed with it.`
    : ` Note: ${others} to the old file ${keep} the old content.`;
}
