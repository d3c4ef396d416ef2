// Patches over several files, in one form for all notations: a list of FilePatch. `parsePatch` reads a unified diff
// or a patch envelope; `applyFilePatch` (hunks.ts) applies one of them to a text.
import { Fault } from "../fault.ts";
import { isEnvelope, parseEnvelope } from "./notation/envelope.ts";
import type { FilePatch } from "./notation/file-patch.ts";
import { parseUnified } from "./notation/unified.ts";

/** Reads a patch in either notation. Throws `malformed_patch` with the line, or `duplicate_path`. */
export function parsePatch(patch: string): FilePatch[] {
  if (!patch.isWellFormed()) {
    const line = patch.slice(0, patch.search(/\p{Surrogate}/u)).split("\n").length;
    throw new Fault("malformed_patch", { line, problem: "not_unicode" });
  }
  const parsed = isEnvelope(patch) ? parseEnvelope(patch) : parseUnified(patch);
  const files = hasCrlfHeader(patch) ? parsed.map(file => ({ ...file, crlf: true })) : parsed;
  const seen = new Set<string>();
  for (const file of files) {
    for (const path of file.to === undefined ? [file.path] : [file.path, file.to]) {
      if (seen.has(path)) throw new Fault("duplicate_path", { path });
      seen.add(path);
    }
  }
  return files;
}

/** The first line that both notations have: if it ends with "\r\n", all lines lost their "\r". */
function hasCrlfHeader(patch: string): boolean {
  const header = isEnvelope(patch) ? /^\*\*\* Begin Patch[^\n]*/m : /^(diff --git |--- )[^\n]*/m;
  return header.exec(patch)?.[0].endsWith("\r") ?? false;
}

/** The content of a created file. Its lines end as `ending` says, or as those of the patch did. */
export function createdContent(patch: FilePatch, ending: "patch" | "\n" = "\n"): string {
  const lines = patch.hunks.flatMap(hunk => hunk.lines).filter(line => line.sign === "+");
  const end = ending === "patch" && patch.crlf ? "\r\n" : "\n";
  return lines.map(line => line.text + (line.end ? end : "")).join("");
}
