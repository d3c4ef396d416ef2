// A directory of workspaces on a real file system, with everything that a test may leave: mounts, state, trees.
import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Engine, openEngine } from "../../src/engine/engine.ts";
import { DirectoryStore } from "../../src/engine/store/directory/directory-store.ts";
import type { CopyMethod, WorkspaceRecord } from "../../src/engine/workspaces/record.ts";
import { Workspaces } from "../../src/engine/workspaces/workspaces.ts";

export class Fixture implements Disposable {
  readonly path: string;
  readonly engine: Engine;
  readonly workspaces: Workspaces;

  constructor(method?: CopyMethod, above = tmpdir()) {
    this.path = mkdtempSync(join(above, "polyfs-workspaces-"));
    this.workspaces = this.open(method);
    this.engine = openEngine({ roots: [], state: join(this.path, "state"), workspaces: this.workspaces });
  }

  open(method?: CopyMethod): Workspaces {
    return new Workspaces({
      directory: join(this.path, "all"),
      store: path => new DirectoryStore(path),
      method,
    });
  }

  get opener() {
    return this.engine.workspace;
  }

  /** Writes files below a directory of the fixture; null removes one. */
  files(directory: string, files: Readonly<Record<string, string | Buffer | null>>): string {
    const top = directory.startsWith("/") ? directory : join(this.path, directory);
    mkdirSync(top, { recursive: true });
    for (const [name, content] of Object.entries(files)) {
      const path = join(top, name);
      if (content === null) rmSync(path, { recursive: true });
      else {
        mkdirSync(dirname(path), { recursive: true });
        rmSync(path, { force: true });
        writeFileSync(path, content);
      }
    }
    return top;
  }

  /** An adopted directory and a fork of it. */
  async forked(
    files: Readonly<Record<string, string | Buffer>>,
  ): Promise<{ base: string; fork: WorkspaceRecord }> {
    return await this.begun(files, () => {});
  }

  /** The same, with something that is done before the fork is made. */
  async begun(
    files: Readonly<Record<string, string | Buffer>>,
    prepare: (base: string) => void,
  ): Promise<{ base: string; fork: WorkspaceRecord }> {
    const base = this.files("base", files);
    prepare(base);
    await this.workspaces.adopt("main", base, "me");
    return { base, fork: await this.workspaces.fork("task", "main", "me") };
  }

  [Symbol.dispose](): void {
    this.engine[Symbol.dispose]();
    const trees = join(this.path, "all/trees");
    for (const tree of existsSync(trees) ? readdirSync(trees) : []) {
      const at = join(trees, tree, "tree");
      while (existsSync(at) && lstatSync(at).dev !== lstatSync(join(trees, tree)).dev)
        execFileSync("umount", ["-l", at]);
    }
    // Only root removes what is in a read-only directory.
    if (process.geteuid?.() !== 0) spawnSync("chmod", ["-R", "u+rwX", this.path]);
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** A tree as a plain value: contents, links as `-> target`, directories that are empty as `{}`. */
export function treeOf(directory: string): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (path: string, prefix: string) => {
    const names = readdirSync(path).sort();
    if (names.length === 0 && prefix !== "") found[prefix] = "{}";
    for (const name of names) {
      const at = join(path, name);
      const stat = lstatSync(at);
      if (stat.isDirectory()) visit(at, `${prefix}${name}/`);
      else if (stat.isSymbolicLink()) found[prefix + name] = `-> ${readlinkSync(at)}`;
      else found[prefix + name] = readFileSync(at, "latin1");
    }
  };
  visit(directory, "");
  return found;
}
