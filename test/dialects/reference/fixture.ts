// A directory on the disk and the program serving it: for the stories about the `reference` dialect.
import { expect } from "vitest";
import type { ProcessWire } from "../../mcp/wire.ts";
import { ServedTree } from "../served-tree.ts";

interface Result {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

export class Fixture extends ServedTree {
  static async open(...args: readonly string[]): Promise<Fixture> {
    const fixture = new Fixture("reference");
    await fixture.serve(...args);
    return fixture;
  }

  /** One more server of the same directory. */
  async serve(...args: readonly string[]): Promise<ProcessWire> {
    const wire = await this.start({ args });
    await wire.initialize();
    return wire;
  }

  /** The bytes of a file, one character each. */
  override read(path: string): string {
    return this.bytes(path).toString("latin1");
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
}
