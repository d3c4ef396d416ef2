// Two directories on the disk, one read-write and one read-only, a place outside of them, and the program serving
// them: for the stories about the `replay` contract.
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
import { type ProcessWire, start } from "../../mcp/wire.ts";

export interface Item {
  readonly type: string;
  readonly text: string;
}

export interface Failure {
  readonly code: number;
  readonly message: string;
}

export class Ground implements AsyncDisposable {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-replay-")));
  readonly root = join(this.base, "project");
  readonly readOnly = join(this.base, "reference");
  readonly outside = join(this.base, "outside");
  readonly #wires: ProcessWire[] = [];

  constructor() {
    for (const directory of [this.root, this.readOnly, this.outside]) mkdirSync(directory);
  }

  /** With a server of both directories. */
  static async open(): Promise<Ground> {
    const ground = new Ground();
    await (await ground.serve()).initialize();
    return ground;
  }

  /** Another server, which nobody has spoken to yet. */
  async serve(args = ["--allow-write", this.root, "--allow-read", this.readOnly]): Promise<ProcessWire> {
    const env = { POLYFS_STATE_DIR: join(this.base, "state") };
    const wire = await start({ dialect: "replay", args, env, cwd: this.root });
    this.#wires.push(wire);
    return wire;
  }

  get wire(): ProcessWire {
    const [first] = this.#wires;
    if (first === undefined) throw new Error("nothing is served");
    return first;
  }

  /** Only these files in the project, whatever was there. */
  reset(files: Readonly<Record<string, string | Uint8Array>>): void {
    for (const directory of [this.root, this.readOnly, this.outside]) {
      for (const name of readdirSync(directory))
        rmSync(join(directory, name), { recursive: true, force: true });
    }
    for (const [path, content] of Object.entries(files)) this.write(path, content);
  }

  /** A path in the project; an absolute one is left as it is. */
  path(path: string): string {
    return path.startsWith("/") ? path : join(this.root, path);
  }

  write(path: string, content: string | Uint8Array): void {
    mkdirSync(dirname(this.path(path)), { recursive: true });
    writeFileSync(this.path(path), content);
  }

  read(path: string): string {
    return readFileSync(this.path(path), "utf8");
  }

  bytes(path: string): Buffer {
    return readFileSync(this.path(path));
  }

  has(path: string): boolean {
    return existsSync(this.path(path));
  }

  /** The items of an answer. */
  async items(tool: string, params: unknown = {}): Promise<Item[]> {
    return (await this.wire.call(tool, params)).content as Item[];
  }

  /** What a call says in its only item. */
  async says(tool: string, params: unknown = {}): Promise<string> {
    const items = await this.items(tool, params);
    expect(items).toHaveLength(1);
    expect(items[0]?.type).toBe("text");
    return items[0]?.text ?? "";
  }

  /** The error of a call that fails. */
  async fails(tool: string, params: unknown = {}): Promise<Failure> {
    const { error, result } = await this.wire.request("tools/call", { name: tool, arguments: params });
    expect(error, JSON.stringify(result)).toBeDefined();
    return error ?? { code: 0, message: "" };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const wire of this.#wires) {
      await wire.close();
      expect(wire.garbage).toEqual([]);
    }
    rmSync(this.base, { recursive: true, force: true });
  }
}

/** The message about a path that is not allowed. */
export function notAllowed(path: string): Failure {
  const message = `Path not allowed: ${path} is outside the allowed directories (use list_allowed_directories to see them)`;
  return { code: -32001, message };
}
