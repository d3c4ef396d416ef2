// Two directories on the disk, one read-write and one read-only, a place outside of them, and the program serving
// them: for the stories about the `replay` contract.
import { expect } from "vitest";
import type { ProcessWire } from "../../mcp/wire.ts";
import { type Files, ServedTree } from "../served-tree.ts";

export interface Item {
  readonly type: string;
  readonly text: string;
}

export interface Failure {
  readonly code: number;
  readonly message: string;
}

export class Fixture extends ServedTree {
  readonly readOnly = this.directory("reference");
  readonly outside = this.directory("outside");

  constructor() {
    super("replay");
  }

  /** With a server of both directories. */
  static async open(): Promise<Fixture> {
    const fixture = new Fixture();
    await (await fixture.serve()).initialize();
    return fixture;
  }

  /** A new server, without any call yet. */
  async serve(args = ["--allow-write", this.root, "--allow-read", this.readOnly]): Promise<ProcessWire> {
    return this.start({ args, roots: [], cwd: this.root });
  }

  /** Only these files in the root, and nothing elsewhere. */
  override reset(files: Files): void {
    this.clear(this.readOnly);
    this.clear(this.outside);
    super.reset(files);
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
}

/** The message about a path that is not allowed. */
export function notAllowed(path: string): Failure {
  const message = `Path not allowed: ${path} is outside the allowed directories (use list_allowed_directories to see them)`;
  return { code: -32001, message };
}
