// A temporary tree with a workspace over part of it: `inside` is granted, `outside` is not, `state` is polyfs's own.

import {
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
import type { Change, CommitOptions } from "../../src/engine/workspace/commit/change.ts";
import type { CopyAttributes } from "../../src/engine/workspace/commit/copy-attributes.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";

export class Fixture implements Disposable {
  readonly base: string;
  readonly inside: string;
  readonly outside: string;
  readonly state: string;
  #workspace: Workspace | undefined;
  readonly #copyAttributes: CopyAttributes | undefined;

  constructor(files: Record<string, string> = {}, copyAttributes?: CopyAttributes, at = tmpdir()) {
    this.base = mkdtempSync(join(at, "polyfs-commit-"));
    this.inside = join(this.base, "inside");
    this.outside = join(this.base, "outside");
    this.state = join(this.base, "state");
    this.#copyAttributes = copyAttributes;
    for (const directory of [this.inside, this.outside]) mkdirSync(directory);
    for (const [path, text] of Object.entries(files)) this.put(path, text);
  }

  /** A fixture that another process has laid out. */
  static over(base: string, workspace: Workspace): Fixture {
    const fixture: Fixture = Object.create(Fixture.prototype);
    return Object.assign(fixture, {
      at: (path: string) => workspace.at(path),
      commit: (changes: readonly Change[], options?: CommitOptions) => workspace.commit(changes, options),
      edit: (path: string, transform: (bytes: Buffer) => Promise<Buffer>) =>
        workspace.edit(workspace.at(path), transform),
      inside: join(base, "inside"),
    });
  }

  get workspace(): Workspace {
    this.#workspace ??= Workspace.open([{ path: this.inside, access: "read-write" }], {
      state: this.state,
      ...(this.#copyAttributes && { copyAttributes: this.#copyAttributes }),
    });
    return this.#workspace;
  }

  /** Forgets the workspace, so that the next one is opened anew. */
  reopen(): void {
    this.#workspace = undefined;
  }

  put(path: string, text: string): void {
    const absolute = join(this.inside, path);
    mkdirSync(dirname(absolute), { recursive: true });
    writeFileSync(absolute, text);
  }

  text(path: string): string {
    return readFileSync(join(this.inside, path), "utf8");
  }

  at(path: string) {
    return this.workspace.at(path);
  }

  write(path: string, text: string, more: Partial<Extract<Change, { kind: "write" }>> = {}): Change {
    return { kind: "write", path: this.at(path), bytes: Buffer.from(text), ...more };
  }

  commit(changes: readonly Change[], options?: CommitOptions) {
    return this.workspace.commit(changes, options);
  }

  edit(path: string, transform: (bytes: Buffer) => Promise<Buffer>) {
    return this.workspace.edit(this.at(path), transform);
  }

  /** Everything in a tree, by path: the text of files, `-> target` for links, `/` for directories. */
  tree(root = this.inside): Record<string, string> {
    const found: Record<string, string> = {};
    const visit = (directory: string, prefix: string) => {
      for (const name of readdirSync(directory).sort()) {
        const path = join(directory, name);
        const stat = lstatSync(path);
        if (stat.isDirectory()) {
          found[`${prefix}${name}/`] = "/";
          visit(path, `${prefix}${name}/`);
        } else if (stat.isSymbolicLink()) found[prefix + name] = `-> ${readlinkSync(path)}`;
        else found[prefix + name] = readFileSync(path, "utf8");
      }
    };
    visit(root, "");
    return found;
  }

  [Symbol.dispose](): void {
    rmSync(this.base, { recursive: true, force: true });
  }
}

/** The code of the fault that `action` ends with. */
export async function faultOf(action: Promise<unknown>): Promise<string> {
  try {
    await action;
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
  return "none";
}
