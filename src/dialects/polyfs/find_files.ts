// `find_files`: files by a glob, or by a part of their name.
import { nameBelow } from "../../contract/render/paths.ts";
import { text } from "../../contract/tool.ts";
import type { Globs } from "../../engine/search/globs.ts";
import { comparison, FirstItems, type Sortable } from "../../engine/search/sort.ts";
import { walkGroups } from "../../engine/search/walk.ts";
import type { Group } from "../../engine/search/walker.ts";
import type { DirectoryEntry } from "../../engine/workspace/directory-entry.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import { AnswerLines, answerBytes, counted, number, unreadDirectories } from "./answer.ts";
import { pathAt } from "./paths.ts";
import { polyfsTool } from "./polyfs-tool.ts";
import { anchorNotes, globsOf, isGlob, scopeOf, scopeProperties } from "./scope.ts";

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
    const lines = new AnswerLines(answerBytes(call.settings) - 100);
    const found = new FoundFiles(at, wantsDirectories, sort, { offset, limit }, lines);
    const scope = { ...scopeOf(wanted), include, signal: call.signal };
    const { leftOut, inaccessible } = await walkGroups(directory, scope, group => found.add(group));
    const { count } = found;
    const unread = inaccessible > 0 ? unreadDirectories(inaccessible) : "";
    if (count === 0) {
      const told = `[nothing found${leftOut > 0 ? `; ${number(leftOut)} ignored or hidden left out` : ""}]`;
      return text([told, ...anchorNotes(pattern), unread].filter(line => line !== "").join("\n"));
    }
    if (offset >= count) return text(`[nothing at offset ${offset}; ${number(count)} found]`);
    found.finish();
    const next = offset + lines.count;
    if (next < count) lines.note(`[${offset + 1}-${next} of ${number(count)}; go on with offset=${next}]`);
    else lines.note(`[${counted(count, "found", "found")}]`);
    if (unread !== "") lines.note(unread);
    return text(lines.toString());
  },
});

const never = new Date(0);

type FoundOrder = "modified" | "path" | "size";

interface FoundPage {
  readonly offset: number;
  readonly limit: number;
}

/** What a walk finds: a page of it as lines, and how much there is. */
class FoundFiles {
  readonly #at: WorkspacePath;
  readonly #wantsDirectories: boolean;
  readonly #sort: FoundOrder;
  readonly #page: FoundPage;
  readonly #lines: AnswerLines;
  /** Undefined in the order of paths, which is the walk's own: then each line is made as it is found. */
  readonly #first: FirstItems<Sortable> | undefined;
  #hasRoom = true;
  count = 0;

  constructor(
    at: WorkspacePath,
    wantsDirectories: boolean,
    sort: FoundOrder,
    page: FoundPage,
    lines: AnswerLines,
  ) {
    this.#at = at;
    this.#wantsDirectories = wantsDirectories;
    this.#page = page;
    this.#lines = lines;
    this.#sort = sort;
    if (sort !== "path") this.#first = new FirstItems(page.offset + page.limit, comparison(sort));
  }

  add({ prefix, entries, parent }: Group): boolean {
    const { offset, limit } = this.#page;
    for (let i = 0; i < entries.length; i++) {
      const entry = entries[i] as DirectoryEntry;
      const { name, kind } = entry;
      if ((kind === "directory") !== this.#wantsDirectories) continue;
      const index = this.count++;
      if (this.#sort === "modified") {
        const modified = parent()?.modified(entry) ?? never;
        this.#first?.add({ path: prefix + name, name, kind, size: 0, modified });
      } else if (this.#sort === "size") {
        const size = parent()?.stat(entry)?.size ?? 0;
        this.#first?.add({ path: prefix + name, name, kind, size, modified: never });
      } else if (this.#hasRoom && index >= offset && index < offset + limit) this.#line(prefix + name);
    }
    return true;
  }

  /** Makes the lines that depend on all that was found. */
  finish(): void {
    for (const { path } of this.#first?.sorted().slice(this.#page.offset) ?? []) {
      if (!this.#hasRoom) return;
      this.#line(path);
    }
  }

  #line(path: string): void {
    this.#hasRoom = this.#lines.add(nameBelow(this.#at, path) + (this.#wantsDirectories ? "/" : ""));
  }
}

/** No part of a name, but a glob of another notation: refused as such, with what to write instead. */
const foreignGroup = /[@+!]\([^()/]*\|/;

/** A substring of the name, ignoring case; with a slash, of the path. */
function namesWith(part: string): Globs {
  const wanted = part.normalize("NFC").toLowerCase();
  const whole = wanted.includes("/");
  const isIn = (text: string) => text.normalize("NFC").toLowerCase().includes(wanted);
  return {
    patterns: [],
    matches: path => isIn(whole ? path : path.slice(path.lastIndexOf("/") + 1)),
    covers: () => false,
    reaches: () => true,
    mayMatchIn: names => whole || isIn(names),
    endings: undefined,
    simple: false,
  };
}
