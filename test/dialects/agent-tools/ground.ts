// A workspace on the disk and the program serving it, for the stories about the `agent-tools` contract.
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

export interface Circumstances {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface Envelope {
  readonly error: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

interface Result {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly isError?: boolean;
}

/** A temporary tree with these files. */
export class Ground implements AsyncDisposable {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-agent-tools-")));
  readonly root = join(this.base, "workspace");
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

  /** A server of its own, which is a process of its own. */
  async serve({ args = [], env = {} }: Circumstances = {}): Promise<Server> {
    const state = { POLYFS_STATE_DIR: join(this.base, "state"), ...env };
    const wire = await start({ dialect: "agent-tools", roots: [this.root], args, env: state });
    await wire.initialize();
    const server = new Server(wire);
    this.#servers.push(server);
    return server;
  }

  /** Ends all servers, as clients do that go away. */
  async leave(): Promise<void> {
    for (const { wire } of this.#servers.splice(0)) {
      await wire.close();
      expect(wire.garbage).toEqual([]);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.leave();
    rmSync(this.base, { recursive: true, force: true });
  }
}

export class Server {
  readonly wire: ProcessWire;

  constructor(wire: ProcessWire) {
    this.wire = wire;
  }

  async result(tool: string, params: unknown): Promise<Result> {
    const result = (await this.wire.call(tool, params)) as unknown as Result;
    expect(result.content).toHaveLength(1);
    expect(result.content[0]?.type).toBe("text");
    return result;
  }

  /** What a successful call says. */
  async says(tool: string, params: unknown = {}): Promise<string> {
    const { content, isError } = await this.result(tool, params);
    expect(isError ?? false, content[0]?.text).toBe(false);
    return content[0]?.text ?? "";
  }

  /** The envelope of a call that fails. */
  async refuses(tool: string, params: unknown = {}): Promise<Envelope> {
    const { content, isError } = await this.result(tool, params);
    expect(isError, content[0]?.text).toBe(true);
    return JSON.parse(content[0]?.text ?? "");
  }

  async toolNames(): Promise<string[]> {
    const { result } = await this.wire.request("tools/list");
    const tools = (result?.tools ?? []) as { name: string }[];
    return tools.map(({ name }) => name);
  }
}
