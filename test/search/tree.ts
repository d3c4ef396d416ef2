// Real temporary trees for the search tests, and the programs that know the right answers.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import { Workspace } from "../../src/engine/workspace/workspace.ts";

export type Files = Readonly<Record<string, string | Buffer>>;

export class Tree implements Disposable {
  readonly path: string;
  readonly #base: string;
  readonly #workspaces: Workspace[] = [];

  constructor(files: Files = {}) {
    this.#base = realpathSync(mkdtempSync(join(tmpdir(), "search-")));
    this.path = join(this.#base, "root");
    mkdirSync(this.path);
    this.add(files);
  }

  /** Writes files; a name that ends with a slash is an empty directory. */
  add(files: Files): void {
    for (const [name, body] of Object.entries(files)) {
      const path = join(this.path, name);
      mkdirSync(name.endsWith("/") ? path : dirname(path), { recursive: true });
      if (!name.endsWith("/")) writeFileSync(path, body);
    }
  }

  /** The directory at `path`, held, in a workspace whose root is the tree. */
  directory(path = ".") {
    const workspace = Workspace.open([{ path: this.path, access: "read-only" }]);
    this.#workspaces.push(workspace);
    return workspace.directory(workspace.at(path));
  }

  /** The directory at `path` in a workspace that was granted only that, or only `root` around it. */
  granted(path: string, root = path) {
    const workspace = Workspace.open([{ path: join(this.path, root), access: "read-only" }]);
    this.#workspaces.push(workspace);
    return workspace.directory(workspace.at(relative(root, path) || "."));
  }

  /** What ripgrep itself prints, started in `path`. */
  rg(args: readonly string[], path = "."): Buffer {
    const { stdout, status, stderr } = spawnSync(rgPath, ["--no-config", ...args], {
      cwd: join(this.path, path),
      maxBuffer: 1 << 28,
      stdio: ["ignore", "pipe", "pipe"],
    });
    if (status === 2 && stdout.length === 0) throw new Error(String(stderr));
    return stdout;
  }

  git(...args: readonly string[]): string {
    return execFileSync("git", args, { cwd: this.path, encoding: "utf8" });
  }

  /** Which of the paths git ignores. */
  gitIgnored(paths: readonly string[]): Set<string> {
    const { stdout } = spawnSync("git", ["check-ignore", "-z", "--stdin", "--no-index"], {
      cwd: this.path,
      input: paths.join("\0"),
      maxBuffer: 1 << 28,
    });
    return new Set(String(stdout).split("\0").filter(Boolean));
  }

  [Symbol.dispose](): void {
    for (const workspace of this.#workspaces) workspace[Symbol.dispose]();
    rmSync(this.#base, { recursive: true, force: true });
  }
}

/** As `LC_ALL=C sort` would. */
export function byteSorted(paths: readonly string[]): string[] {
  return paths.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** A small repeatable source of chance. */
export function chance(seed: number) {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;
  return { below, pick, often: (share: number) => next() < share };
}
