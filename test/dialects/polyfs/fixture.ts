// A tree on the disk and the program serving it, for the stories about our own tool set.
import { expect } from "vitest";
import type { ProcessWire, StartOptions } from "../../mcp/wire.ts";
import { type Files, ServedTree } from "../served-tree.ts";

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

export class Fixture extends ServedTree {
  constructor(files: Files = {}, within?: string) {
    super("polyfs", files, within);
  }

  /** A server of its own, which is a process of its own; the past is shared by those of one fixture. */
  async serve(options: Pick<StartOptions, "args" | "roots" | "env"> = {}): Promise<Server> {
    const wire = await this.start(options);
    await wire.initialize();
    return new Server(wire);
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

  /** The version of a file as reading reports it. */
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

/** The id of the change that an answer offers to undo. */
export function changeIn(said: string): string {
  const found = /^change (\w+)/m.exec(said)?.[1];
  expect(found, said).toBeDefined();
  return found ?? "";
}

/** `1\n2\n…` */
export function numbered(count: number): string {
  return Array.from({ length: count }, (_, i) => `${i + 1}\n`).join("");
}
