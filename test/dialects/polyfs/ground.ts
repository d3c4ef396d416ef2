// A tree on the disk and the program serving it, for the stories about our own tool set.
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

export type Files = Readonly<Record<string, string | Uint8Array>>;

interface Item {
  readonly type: string;
  readonly text?: string;
  readonly data?: string;
  readonly mimeType?: string;
}

interface Result {
  readonly content: readonly Item[];
  readonly isError?: boolean;
}

export class Ground implements AsyncDisposable {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-own-")));
  readonly root = join(this.base, "root");
  readonly #servers: Server[] = [];

  constructor(files: Files = {}) {
    mkdirSync(this.root);
    this.reset(files);
  }

  /** Only these files, whatever was there. */
  reset(files: Files): void {
    for (const name of readdirSync(this.root)) rmSync(this.path(name), { recursive: true, force: true });
    for (const [path, content] of Object.entries(files)) this.write(path, content);
  }

  path(path: string): string {
    return join(this.root, path);
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

  /** A server of its own, which is a process of its own; the past is shared by those of one ground. */
  async serve({
    args = [],
    roots = [this.root],
  }: {
    readonly args?: readonly string[];
    readonly roots?: readonly string[];
  } = {}): Promise<Server> {
    const env = { POLYFS_STATE_DIR: join(this.base, "state") };
    const wire = await start({ dialect: "polyfs", roots, args, env });
    await wire.initialize();
    const server = new Server(wire);
    this.#servers.push(server);
    return server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { wire } of this.#servers) {
      await wire.close();
      expect(wire.garbage).toEqual([]);
    }
    rmSync(this.base, { recursive: true, force: true });
  }
}

export class Server {
  readonly wire: ProcessWire;

  constructor(wire: ProcessWire) {
    this.wire = wire;
  }

  async result(tool: string, params: unknown = {}): Promise<Result> {
    return (await this.wire.call(tool, params)) as unknown as Result;
  }

  /** What a successful call says. */
  async says(tool: string, params: unknown = {}): Promise<string> {
    const { content, isError } = await this.result(tool, params);
    const said = content.map(item => item.text ?? `<${item.type}>`).join("\n");
    expect(isError ?? false, said).toBe(false);
    return said;
  }

  /** What a failing call says, in lines: the first has the code. */
  async refuses(tool: string, params: unknown = {}): Promise<string[]> {
    const { content, isError } = await this.result(tool, params);
    const said = content.map(item => item.text ?? "").join("\n");
    expect(isError, said).toBe(true);
    const lines = said.split("\n");
    expect(lines[0], said).toMatch(/^[a-z_]+: ./);
    expect(lines.length, `${said}: no second line that says what to do`).toBeGreaterThan(1);
    expect(lines[1]?.length, said).toBeGreaterThan(3);
    return lines;
  }

  /** The version of a file as reading it tells. */
  async version(path: string): Promise<string> {
    const head = (await this.says("read_file", { path, limit: 1 })).split("\n")[0] ?? "";
    return versionIn(head);
  }

  async tools(): Promise<readonly Record<string, unknown>[]> {
    const { result } = await this.wire.request("tools/list");
    return (result?.tools ?? []) as Record<string, unknown>[];
  }
}

export function versionIn(said: string): string {
  const found = /v:[0-9a-f]{12}/.exec(said)?.[0];
  expect(found, said).toBeDefined();
  return found ?? "";
}

/** The id of the change that an answer offers to take back. */
export function changeIn(said: string): string {
  const found = /^change (\w+)/m.exec(said)?.[1];
  expect(found, said).toBeDefined();
  return found ?? "";
}

/** `1\n2\n…` */
export function numbered(count: number): string {
  return Array.from({ length: count }, (_, i) => `${i + 1}\n`).join("");
}
