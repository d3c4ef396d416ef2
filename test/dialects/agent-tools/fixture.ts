// A workspace on the disk and the program serving it, for the stories about the `agent-tools` contract.
import { expect } from "vitest";
import type { ProcessWire } from "../../mcp/wire.ts";
import { type Files, ServedTree } from "../served-tree.ts";

export type { Files };

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

export class Fixture extends ServedTree {
  constructor(files: Files = {}) {
    super("agent-tools", files);
  }

  /** A server of its own, which is a process of its own. */
  async serve(circumstances: Circumstances = {}): Promise<Server> {
    const wire = await this.start(circumstances);
    await wire.initialize();
    return new Server(wire);
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
