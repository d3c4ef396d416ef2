// Names the hunks of a difference, and knows which of its files and hunks are kept. A hunk is named by its task, its file
// and its lines without their numbers: the mark survives edits elsewhere in the file, and is gone when the hunk changes.
import { hash } from "node:crypto";
import type { ChangeRecord } from "../engine/workspace/archive/log.ts";
import type { Difference, FileDifference, Hunk } from "./api.ts";
import type { KeptMarks } from "./kept-marks.ts";

/** `records` are what the difference is made of. */
export function withMarks(
  difference: Difference,
  task: string,
  records: readonly ChangeRecord[],
  marks: KeptMarks,
): Difference {
  const keptOf = keptFiles(records, marks);
  const files = difference.files.map(
    (file): FileDifference => ({
      ...file,
      ...(keptOf(file.path) && { kept: true }),
      hunks: markedHunks(file, task, marks),
    }),
  );
  return { ...difference, files };
}

/** Whether a file is kept: in every change that touched it. */
function keptFiles(records: readonly ChangeRecord[], marks: KeptMarks): (path: string) => boolean {
  const touching = new Map<string, string[]>();
  const directories: { readonly at: string; readonly id: string }[] = [];
  for (const { id, files } of records)
    for (const { at, kind } of files) {
      touching.set(at, [...(touching.get(at) ?? []), id]);
      if (kind === "directory") directories.push({ at: `${at}/`, id });
    }
  return path => {
    const above = directories.filter(({ at }) => path.startsWith(at)).map(({ id }) => id);
    const ids = [...(touching.get(path) ?? []), ...above];
    return ids.length > 0 && ids.every(id => marks.isKept(id) || marks.pathsOf(id).includes(path));
  };
}

function markedHunks({ path, hunks }: FileDifference, task: string, marks: KeptMarks): Hunk[] {
  const seen = new Map<string, number>();
  return hunks.map(hunk => {
    const body = hunk.text.slice(hunk.text.indexOf("\n"));
    // Two hunks of one file may hold the same lines.
    const count = seen.get(body) ?? 0;
    seen.set(body, count + 1);
    const id = hash("sha256", [task, path, count, body].join("\0")).slice(0, 24);
    return { ...hunk, id, ...(marks.isHunkKept(id) && { kept: true }) };
  });
}
