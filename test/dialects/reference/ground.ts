// A directory on the disk and the program serving it: for the stories about the `reference` dialect.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { type ProcessWire, start } from "../../mcp/wire.ts";

interface Result {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

export class Ground implements AsyncDisposable {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-reference-")));
  readonly root = join(this.base, "root");
  readonly #wires: ProcessWire[] = [];

  static async open(...args: readonly string[]): Promise<Ground> {
    const ground = new Ground();
    mkdirSync(ground.root);
    await ground.serve(...args);
    return ground;
  }

  /** One more server of the same directory. */
  async serve(...args: readonly string[]): Promise<ProcessWire> {
    const env = { POLYFS_STATE_DIR: join(this.base, "state") };
    const wire = await start({ dialect: "reference", roots: [this.root], args, env });
    this.#wires.push(wire);
    await wire.initialize();
    return wire;
  }

  get wire(): ProcessWire {
    const [first] = this.#wires;
    if (first === undefined) throw new Error("nothing is served");
    return first;
  }

  path(path: string): string {
    return join(this.root, path);
  }

  write(path: string, content: string | Uint8Array): void {
    mkdirSync(dirname(this.path(path)), { recursive: true });
    writeFileSync(this.path(path), content);
  }

  read(path: string): string {
    return readFileSync(this.path(path), "latin1");
  }

  async call(tool: string, params: unknown, wire = this.wire): Promise<Result> {
    return (await wire.call(tool, params)) as unknown as Result;
  }

  /** What a call says that succeeds. */
  async says(tool: string, params: unknown, wire = this.wire): Promise<string> {
    const { content, isError } = await this.call(tool, params, wire);
    expect(isError, content[0]?.text).toBeUndefined();
    return content[0]?.text ?? "";
  }

  /** What a call says that fails. */
  async fails(tool: string, params: unknown): Promise<string> {
    const { content, isError } = await this.call(tool, params);
    expect(isError, content[0]?.text).toBe(true);
    return content[0]?.text ?? "";
  }

  edit(path: string, oldText: string, newText: string): { path: string; edits: unknown[] } {
    return { path: this.path(path), edits: [{ oldText, newText }] };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const wire of this.#wires) {
      await wire.close();
      expect(wire.garbage).toEqual([]);
    }
    rmSync(this.base, { recursive: true, force: true });
  }
}
