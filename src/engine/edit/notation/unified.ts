// Parses unified diffs of git and diff as strictly as `git apply`: counts must be right, and what cannot be applied
// to a text (binary patches, links, submodules) is refused by name.
import type { FilePatch, PatchHunk, PatchLine } from "./file-patch.ts";
import { filePatch, malformed } from "./file-patch.ts";
import { headerNames, isEpoch, nameIn, stripPrefixes } from "./names.ts";

/** The header of one file's hunks. */
interface Head {
  readonly line: number;
  /** The names after `diff --git`. */
  git?: string;
  oldName?: string;
  newName?: string;
  renamed?: { kind: "rename" | "copy"; from?: string; to?: string };
  created?: boolean;
  deleted?: boolean;
  executable?: boolean;
  blob?: string;
}

export function parseUnified(patch: string): FilePatch[] {
  const lines = patchLines(patch);
  const files: FilePatch[] = [];
  let head: Head | undefined;
  let hunks: PatchHunk[] = [];
  const finish = () => {
    if (head !== undefined) files.push(fileOf(head, hunks));
    head = undefined;
    hunks = [];
  };
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    if (line.startsWith("diff --git ")) {
      finish();
      head = { line: at + 1, git: line.slice("diff --git ".length) };
    } else if (line.startsWith("--- ") && lines[at + 1]?.startsWith("+++ ")) {
      if (head?.git === undefined || head.oldName !== undefined || hunks.length > 0) {
        finish();
        head = { line: at + 1 };
      }
      const [oldName, newName] = [line.slice(4), (lines[at + 1] ?? "").slice(4)];
      if (!agrees(head, oldName, newName)) {
        // A rename or a change of mode needs no hunks: then these are the names of the next file.
        if (!head.renamed && head.executable === undefined) malformed(at + 1, "other_names");
        finish();
        head = { line: at + 1 };
      }
      head.oldName = oldName;
      head.newName = newName;
      at += 1;
    } else if (line.startsWith("@@")) {
      if (head?.newName === undefined) malformed(at + 1, "hunk_without_names");
      const read = readHunk(lines, at);
      hunks.push(read.hunk);
      at = read.last;
    } else if (head?.git !== undefined && hunks.length === 0 && head.newName === undefined)
      extended(head, line, at + 1);
    else if (/^Binary files .* differ$/.test(line)) malformed(at + 1, "binary");
    else if (hunks.length > 0 && /^[-+ ]/.test(line) && line !== "-- " && !isBetween(lines, at)) {
      malformed(at + 1, isHeader(lines, at - 1) ? "hunk_too_short" : "hunk_too_long");
    }
  }
  finish();
  if (files.length === 0) malformed(1, "no_file");
  return files;
}

/** The lines of a patch. One that came with "\r\n" throughout is read as if it had "\n". */
function patchLines(patch: string): string[] {
  const lines = patch.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const header = lines.find(line => /^(diff --git |--- )/.test(line));
  return header?.endsWith("\r") ? lines.map(line => line.replace(/\r$/, "")) : lines;
}

/** Mail signatures and text between patches come after a line that does not belong to a hunk. */
function isBetween(lines: readonly string[], at: number): boolean {
  for (let i = at - 1; i >= 0 && !lines[i]?.startsWith("@@"); i--) {
    const line = lines[i] ?? "";
    if (line === "-- " || (line !== "" && !/^[-+ \\]/.test(line))) return true;
  }
  return false;
}

/** Whether `---` and `+++` name the files of the `diff --git` header, if that can be determined. */
function agrees({ git, renamed, line }: Head, oldName: string, newName: string): boolean {
  if (git === undefined) return true;
  const header = renamed === undefined ? headerNames(git) : namesOf({ line, git, renamed });
  const { from, to } = stripPrefixes(nameIn(oldName), nameIn(newName), git);
  if (header === undefined) return true;
  return (from === undefined || from === header.from) && (to === undefined || to === header.to);
}

/** A line between `diff --git` and the hunks. */
function extended(head: Head, line: string, number: number): void {
  const [, what = "", value = ""] =
    /^(old mode|new mode|deleted file mode|new file mode|rename from|rename to|copy from|copy to|index) (.*)$/.exec(
      line,
    ) ?? [];
  const mode = what === "index" ? (/ (\d+)$/.exec(value)?.[1] ?? "") : what.endsWith("mode") ? value : "";
  if (mode.startsWith("120")) malformed(number, "symlink");
  if (mode.startsWith("160")) malformed(number, "submodule");
  if (what === "new mode" || what === "new file mode") head.executable = mode === "100755";
  if (what === "new file mode") head.created = true;
  if (what === "deleted file mode") head.deleted = true;
  if (what === "index") {
    const blob = /^([0-9a-f]{7,64})\.\./.exec(value)?.[1];
    if (blob !== undefined) head.blob = blob;
  }
  const move = /^(rename|copy) (from|to)$/.exec(what);
  if (move !== null) {
    head.renamed ??= { kind: move[1] === "copy" ? "copy" : "rename" };
    head.renamed[move[2] === "from" ? "from" : "to"] = nameIn(value);
  }
  if (line === "GIT binary patch" || /^Binary files .* differ$/.test(line)) {
    malformed(number, "binary");
  }
}

/** Whether the header of a file begins here. Lines of a hunk can look the same; its counts tell them apart. */
function isHeader(lines: readonly string[], at: number): boolean {
  const [first = "", second = "", third = ""] = lines.slice(at, at + 3);
  return first.startsWith("--- ") && second.startsWith("+++ ") && third.startsWith("@@ -");
}

function readHunk(lines: readonly string[], at: number): { hunk: PatchHunk; last: number } {
  const header = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(lines[at] ?? "");
  if (header === null) malformed(at + 1, "hunk_header");
  let [old, added] = [Number(header[2] ?? 1), Number(header[4] ?? 1)];
  const found: PatchLine[] = [];
  let nextHeader: number | undefined;
  let unended: number | undefined;
  let last = at;
  while (old > 0 || added > 0) {
    const line = lines[last + 1];
    if (line === undefined) malformed(last + 1, "cut_off");
    last += 1;
    // Some programs strip the blank of an empty context line; git accepts that.
    const sign = line === "" ? " " : line[0];
    if (sign === "\\") {
      noBreak(found, last);
      unended ??= last + 1;
      continue;
    }
    if (sign !== " " && sign !== "-" && sign !== "+") {
      malformed(last + 1, "hunk_too_short");
    }
    if (isHeader(lines, last)) nextHeader = last + 1;
    if (sign !== "+") old -= 1;
    if (sign !== "-") added -= 1;
    if (old < 0 || added < 0) malformed(last + 1, "hunk_counts");
    found.push({ sign, text: line.slice(1), end: true });
  }
  if (lines[last + 1]?.startsWith("\\")) {
    last += 1;
    noBreak(found, last);
  }
  if (unended !== undefined && !endsOnce(found)) malformed(unended, "misplaced_no_newline");
  if (!found.some(line => line.sign !== " ")) malformed(at + 1, "hunk_without_change");
  const hunk = { lines: found, oldStart: Number(header[1]), anchors: [], atEnd: false };
  return { hunk: { ...hunk, ...(nextHeader !== undefined && { nextHeader }) }, last };
}

/** "\ No newline at end of file": about the line before it. */
function noBreak(found: PatchLine[], at: number): void {
  const before = found.at(-1);
  if (before === undefined) malformed(at + 1, "misplaced_no_newline");
  found[found.length - 1] = { ...before, end: false };
}

/** Whether only the last old line and the last new one are without a line break. */
function endsOnce(lines: readonly PatchLine[]): boolean {
  return (["+", "-"] as const).every(other => {
    const side = lines.filter(({ sign }) => sign !== other);
    return side.slice(0, -1).every(({ end }) => end);
  });
}

function fileOf(head: Head, hunks: readonly PatchHunk[]): FilePatch {
  const names = namesOf(head);
  const signs = new Set(hunks.flatMap(hunk => hunk.lines.map(line => line.sign)));
  const only = (sign: PatchLine["sign"]) => signs.size === 1 && signs.has(sign);
  const created =
    head.created ||
    names.from === undefined ||
    (isEpoch(head.oldName) && only("+") && hunks[0]?.oldStart === 0);
  const deleted = head.deleted || names.to === undefined || (isEpoch(head.newName) && only("-"));
  const path = created ? names.to : names.from;
  if (path === undefined || path === "" || (created && deleted)) malformed(head.line, "no_name");
  if (created && (signs.has("-") || signs.has(" "))) malformed(head.line, "old_lines_in_new_file");
  if (deleted && (signs.has("+") || signs.has(" "))) malformed(head.line, "new_lines_in_deleted_file");
  if ((created || deleted) && hunks.length > 1) malformed(head.line, "several_hunks");
  if (!created && !deleted && hunks.length === 0 && !head.renamed && head.executable === undefined) {
    if (names.to === path) malformed(head.line, "file_without_change");
  }
  const executable = head.executable === undefined ? {} : { executable: head.executable };
  const blob = head.blob === undefined ? {} : { blob: head.blob };
  const common = { path, checkRemoved: true, ...executable, ...blob };
  if (created) return filePatch({ ...common, kind: "create" }, hunks);
  if (deleted) return filePatch({ ...common, kind: "delete" }, hunks);
  if (names.to === undefined || names.to === path) return filePatch({ ...common, kind: "modify" }, hunks);
  return filePatch({ ...common, kind: head.renamed?.kind ?? "rename", to: names.to }, hunks);
}

function namesOf(head: Head): { from?: string | undefined; to?: string | undefined } {
  if (head.renamed !== undefined) {
    const { from, to } = head.renamed;
    if (from === undefined || to === undefined) malformed(head.line, "half_rename");
    return { from, to };
  }
  if (head.oldName !== undefined && head.newName !== undefined) {
    return stripPrefixes(nameIn(head.oldName), nameIn(head.newName), head.git);
  }
  const names = head.git === undefined ? undefined : headerNames(head.git);
  if (names === undefined) malformed(head.line, "ambiguous_names");
  return names;
}
