// A temporary tree for the search suite, and the engine on it.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { grep } from "../../src/engine/search/grep.ts";
import type { FileHits, GrepOptions } from "../../src/engine/search/grep-terms.ts";
import type { Query } from "../../src/engine/search/ripgrep.ts";
import { walk } from "../../src/engine/search/walk.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";

export class Tree implements Disposable {
  readonly root: string;
  readonly base: string;
  readonly #workspace: Workspace;

  constructor() {
    this.base = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-search-")));
    this.root = join(this.base, "root");
    mkdirSync(this.root);
    this.#workspace = Workspace.open([{ path: this.root, access: "read-only" }]);
  }

  add(name: string, content: string | Buffer): void {
    const path = join(this.root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }

  async search(query: Query, options: GrepOptions = {}): Promise<FileHits[]> {
    return (await this.searchAndReport(query, options)).files;
  }

  /** The same, and why the search ended before everything was found. */
  async searchAndReport(query: Query, options: GrepOptions) {
    using directory = this.#workspace.directory(this.#workspace.at("."));
    const files: FileHits[] = [];
    const search = grep(directory, query, options);
    for await (const file of search) files.push(file);
    return { files, stopped: search.report.stopped };
  }

  /** The files that a walk by the ignore rules gives. */
  async files(): Promise<string[]> {
    using directory = this.#workspace.directory(this.#workspace.at("."));
    const found: string[] = [];
    for await (const entry of walk(directory, { ignore: { rules: true, hidden: true } }))
      if (entry.kind === "file") found.push(entry.path);
    return found;
  }

  [Symbol.dispose](): void {
    this.#workspace[Symbol.dispose]();
    rmSync(this.base, { recursive: true, force: true });
  }
}

/** The matching lines as `path:number:text`. */
export function shown(files: readonly FileHits[]): string[] {
  return files.flatMap(({ path, lines }) =>
    lines.filter(line => line.column !== undefined).map(line => `${path}:${line.number}:${line.text}`),
  );
}

export function same(found: readonly string[], expected: readonly string[], what: string): void {
  const [a, b] = [found, expected].map(list => list.toSorted());
  if (JSON.stringify(a) === JSON.stringify(b)) return;
  const only = (list: readonly string[], other: readonly string[]) =>
    JSON.stringify(list.filter(line => !other.includes(line)).slice(0, 20));
  throw new Error(
    `${what}: ${found.length} found, ${expected.length} expected; found alone: ${only(found, expected)}, expected alone: ${only(expected, found)}`,
  );
}
