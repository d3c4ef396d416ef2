// `find_files`: files by a glob, or by a part of their name.
import { nameBelow } from "../../contract/render/paths.ts";
import { text } from "../../contract/tool.ts";
import type { Globs } from "../../engine/search/globs.ts";
import { comparison, First, type Sortable } from "../../engine/search/sort.ts";
import { walk } from "../../engine/search/walk.ts";
import { AnswerLines, answerBytes, counted, number, unreadDirectories } from "./answer.ts";
import { pathAt } from "./paths.ts";
import { polyfsTool } from "./polyfs-tool.ts";
import { globsOf, isGlob, scopeOf, scopeProperties } from "./scope.ts";

export const findFiles = polyfsTool({
  name: "find_files",
  title: "Find files",
  description: "Find files by glob (no slash: any depth) or a part of the name; a final / finds directories.",
  input: {
    type: "object",
    properties: {
      pattern: { type: "string", minLength: 1 },
      path: { type: "string", default: "." },
      ...scopeProperties,
      sort: { type: "string", enum: ["modified", "path", "size"], default: "modified" },
      limit: { type: "integer", minimum: 1, default: 200 },
      offset: { type: "integer", minimum: 0, default: 0 },
    },
    required: ["pattern"],
  },
  effect: "reads",
  paths: ["path"],
  async run({ pattern, path, sort, limit, offset, ...wanted }, call) {
    const at = pathAt(call, path);
    using directory = call.workspace.directory(at);
    const wantsDirectories = pattern.endsWith("/");
    const bare = wantsDirectories ? pattern.replace(/\/+$/, "") : pattern;
    const include =
      isGlob(bare) || foreignGroup.test(bare)
        ? globsOf([bare], { absolute: directory.path })
        : namesWith(bare);
    const found = new First<Sortable>(offset + limit, comparison(sort));
    const needsStat = sort !== "path";
    const search = walk(directory, { ...scopeOf(wanted), include, signal: call.signal });
    await search.each(entry => {
      if ((entry.kind === "directory") !== wantsDirectories) return true;
      const stat = needsStat ? entry.stat() : undefined;
      const { size = 0, modified = never } = stat ?? {};
      found.add({ path: entry.path, name: entry.name, kind: entry.kind, size, modified });
      return true;
    });
    const { leftOut, inaccessible } = search.report;
    const unread = inaccessible > 0 ? unreadDirectories(inaccessible) : "";
    if (found.count === 0) {
      const told = `[nothing found${leftOut > 0 ? `; ${number(leftOut)} ignored or hidden left out` : ""}]`;
      return text(unread === "" ? told : `${told}\n${unread}`);
    }
    if (offset >= found.count) return text(`[nothing at offset ${offset}; ${number(found.count)} found]`);
    const lines = new AnswerLines(answerBytes(call.settings) - 100);
    for (const { path: below, kind } of found.sorted().slice(offset)) {
      if (!lines.add(nameBelow(at, below) + (kind === "directory" ? "/" : ""))) break;
    }
    const next = offset + lines.count;
    if (next < found.count)
      lines.note(`[${offset + 1}-${next} of ${number(found.count)}; go on with offset=${next}]`);
    else lines.note(`[${counted(found.count, "found", "found")}]`);
    if (unread !== "") lines.note(unread);
    return text(lines.toString());
  },
});

const never = new Date(0);

/** No part of a name, but a glob of another notation: refused as such, with what to write instead. */
const foreignGroup = /[@+!]\([^()/]*\|/;

/** A substring of the name, ignoring case; with a slash, of the path. */
function namesWith(part: string): Globs {
  const wanted = part.normalize("NFC").toLowerCase();
  const whole = wanted.includes("/");
  return {
    patterns: [],
    matches: path => {
      const subject = whole ? path : path.slice(path.lastIndexOf("/") + 1);
      return subject.normalize("NFC").toLowerCase().includes(wanted);
    },
    covers: () => false,
    reaches: () => true,
    endings: undefined,
    simple: false,
  };
}
