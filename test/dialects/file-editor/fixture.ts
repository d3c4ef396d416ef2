// A directory of files and a server on it, with a workspace chosen or not.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { start } from "../../mcp/wire.ts";

export interface Options {
  /** What the command line names, below the fixture; the fixture itself by default. */
  readonly roots?: readonly string[];
  readonly args?: readonly string[];
  /** What is chosen before the story begins; the fixture itself by default, nothing for `false`. */
  readonly workspace?: string | false;
}

export type Files = Readonly<Record<string, string | Uint8Array>>;

export class Fixture implements AsyncDisposable {
  readonly path: string;
  readonly #wire: Awaited<ReturnType<typeof start>>;

  private constructor(path: string, wire: Awaited<ReturnType<typeof start>>) {
    this.path = path;
    this.#wire = wire;
  }

  static async open(files: Files = {}, options: Options = {}): Promise<Fixture> {
    const path = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-editor-")));
    put(path, files);
    const roots = options.roots ?? [""];
    const wire = await start({
      dialect: "file-editor",
      roots: roots.map(root => join(path, root)),
      ...(options.args && { args: options.args }),
    });
    await wire.initialize();
    const fixture = new Fixture(path, wire);
    if (options.workspace !== false) {
      await fixture.says("set_workspace", { path: join(path, options.workspace ?? "") });
    }
    return fixture;
  }

  put(files: Files): void {
    put(this.path, files);
  }

  /** The bytes of a file, as Latin-1: what is compared is every byte. */
  bytes(name: string): string {
    return readFileSync(join(this.path, name), "latin1");
  }

  /** What a call answers; it must succeed. */
  async says(tool: string, args: unknown): Promise<string> {
    const { said, isError } = await this.calls(tool, args);
    expect(isError, said).toBe(false);
    return said;
  }

  /** What a call is refused with, after `Error: `. */
  async refuses(tool: string, args: unknown): Promise<string> {
    const { said, isError } = await this.calls(tool, args);
    expect(isError, said).toBe(true);
    expect(said.slice(0, 7)).toBe("Error: ");
    return said.slice(7);
  }

  async calls(tool: string, args: unknown): Promise<{ said: string; isError: boolean }> {
    const result = await this.#wire.call(tool, args);
    const [item, ...others] = result.content as { type: string; text: string }[];
    expect(item?.type).toBe("text");
    expect(others).toEqual([]);
    return { said: item?.text ?? "", isError: result.isError === true };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#wire.close();
    expect(this.#wire.garbage).toEqual([]);
    rmSync(this.path, { recursive: true });
  }
}

function put(path: string, files: Files): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), content);
  }
}

/** A text of this many lines, with some of them given. */
export function lines(count: number, given: Readonly<Record<number, string>> = {}): string {
  return Array.from({ length: count }, (_, i) => given[i + 1] ?? `line ${i + 1}`).join("\n");
}
