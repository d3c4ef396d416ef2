// A tree on the disk and the programs that serve it, for the stories about a dialect. All servers of a tree share
// one past. Each dialect's fixture adds what its answers look like.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { type ProcessWire, type StartOptions, start } from "../mcp/wire.ts";

export type Files = Readonly<Record<string, string | Uint8Array>>;

export class ServedTree implements AsyncDisposable {
  readonly base: string;
  readonly root: string;
  readonly #dialect: string;
  readonly #wires: ProcessWire[] = [];

  /** `within`: where the tree is made. */
  constructor(dialect: string, files: Files = {}, within = tmpdir()) {
    this.#dialect = dialect;
    this.base = realpathSync(mkdtempSync(join(within, `polyfs-${dialect}-`)));
    this.root = this.directory("root");
    for (const [path, content] of Object.entries(files)) this.write(path, content);
  }

  /** A directory beside the root, which no server serves unless it is told to. */
  directory(name: string): string {
    const path = join(this.base, name);
    mkdirSync(path);
    return path;
  }

  /** A path below the root; an absolute one is left as it is. */
  path(path: string): string {
    return path.startsWith("/") ? path : join(this.root, path);
  }

  write(path: string, content: string | Uint8Array): void {
    mkdirSync(dirname(this.path(path)), { recursive: true });
    writeFileSync(this.path(path), content);
  }

  read(path: string): string {
    return this.bytes(path).toString("utf8");
  }

  bytes(path: string): Buffer {
    return readFileSync(this.path(path));
  }

  has(path: string): boolean {
    return existsSync(this.path(path));
  }

  /** Only these files below the root, whatever was there. */
  reset(files: Files): void {
    this.clear(this.root);
    for (const [path, content] of Object.entries(files)) this.write(path, content);
  }

  clear(directory: string): void {
    for (const name of readdirSync(directory))
      rmSync(join(directory, name), { recursive: true, force: true });
  }

  /** A new server in its own process, without any call yet. */
  async start({ roots = [this.root], env = {}, ...options }: StartOptions = {}): Promise<ProcessWire> {
    const wire = await start({
      dialect: this.#dialect,
      roots,
      env: { POLYFS_STATE_DIR: join(this.base, "state"), ...env },
      ...options,
    });
    this.#wires.push(wire);
    return wire;
  }

  /** The first server. */
  get wire(): ProcessWire {
    const [first] = this.#wires;
    if (first === undefined) throw new Error("nothing is served");
    return first;
  }

  /** Ends all servers, as clients do that go away. */
  async leave(): Promise<void> {
    for (const wire of this.#wires.splice(0)) {
      await wire.close();
      expect(wire.garbage).toEqual([]);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.leave();
    rmSync(this.base, { recursive: true, force: true });
  }
}
