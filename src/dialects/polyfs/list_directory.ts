// `list_directory`: a directory as an indented tree. It never floods: what does not fit is collapsed, deepest
// directories first, and counted.
import { text } from "../../contract/tool.ts";
import { printable } from "../../contract/wording.ts";
import { walkGroups } from "../../engine/search/walk.ts";
import { AnswerLines, answerBytes, counted, number, unreadDirectories } from "./answer.ts";
import { describe, indented, Outline, type VisibleOutline } from "./outline.ts";
import { pathAt } from "./paths.ts";
import { PlainLevel } from "./plain-level.ts";
import { polyfsTool } from "./polyfs-tool.ts";
import { scopeOf, scopeProperties } from "./scope.ts";

/** The most entries to examine for counting what is not shown. */
const maxEntries = 100_000;
const maxMs = 5000;

export const listDirectory = polyfsTool({
  name: "list_directory",
  title: "List directory",
  description: "An indented tree; omitted entries are counted.",
  input: {
    type: "object",
    properties: {
      path: { type: "string", default: ".", description: "Default: first root." },
      depth: { type: "integer", minimum: 1, default: 1, description: "Levels." },
      ...scopeProperties,
      sort: { type: "string", enum: ["name", "size", "modified"], default: "name" },
      details: { type: "boolean", description: "Size, time, mode." },
      limit: { type: "integer", minimum: 1, default: 500, description: "Entries." },
    },
  },
  effect: "reads",
  paths: ["path"],
  async run({ path, depth, sort, details = false, limit, ...wanted }, call) {
    const at = pathAt(call, path);
    using directory = call.workspace.directory(at);
    const outline = new Outline(sort, sort !== "name" || details, maxEntries);
    const scope = { ...scopeOf(wanted), order: "tree", maxDepth: depth - 1 } as const;
    const limits = { timeoutMs: maxMs, signal: call.signal };
    const level = depth === 1 && sort === "name" && !details ? new PlainLevel(limit) : undefined;
    const report = await walkGroups(directory, { ...scope, ...limits }, group => {
      level?.add(group);
      return outline.add(group);
    });
    const room = answerBytes(call.settings);
    const { leftOut, inaccessible } = report;
    const isPartial = outline.isFull || report.stopped !== undefined;
    const lines = new AnswerLines(room);
    const more = isPartial ? "at least " : "";
    const { directories, others } = outline;
    lines.note(
      `${printable(at.given).replace(/\/$/, "")}/ · ${more}${counted(directories, "directory", "directories")}, ${counted(others, "file")}`,
    );
    if (level !== undefined && !outline.hasDetails && !isPartial && level.fits(room - 400))
      level.addTo(lines);
    else addChosen(outline.choose(limit, room - 400, details), details, lines);
    if (leftOut > 0)
      lines.note(
        `[left out: ${number(leftOut)} ${wanted.ignored ? "hidden" : wanted.hidden ? "ignored" : "ignored or hidden"}]`,
      );
    if (inaccessible > 0) lines.note(unreadDirectories(inaccessible));
    if (isPartial) lines.note("[the tree is larger than the counted part]");
    return text(lines.toString());
  },
});

function addChosen({ entries, cut, collapsed }: VisibleOutline, details: boolean, lines: AnswerLines): void {
  lines.addAll(entries.map(one => indented(one.depth, describe(one, details))));
  if (cut > 0)
    lines.note(`[${counted(cut, "more entry", "more entries")} here; raise limit, or use find_files]`);
  if (collapsed > 0)
    lines.note(
      `[${counted(collapsed, "directory", "directories")} collapsed; list them one by one, or raise limit]`,
    );
}
