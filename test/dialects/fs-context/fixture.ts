// A tree with one of everything, a server for it, and what its answers look like.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type ProcessWire, type StartOptions, start } from "../../mcp/wire.ts";

export interface Answer {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent: Structured;
  readonly isError?: boolean;
}

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly path?: string;
  readonly suggestion?: string;
}

export interface Info {
  readonly name: string;
  readonly path: string;
  readonly type: string;
  readonly size: number;
  readonly [fact: string]: unknown;
}

/** The union of what the tools answer; each test looks at the part that its tool has. */
export interface Structured {
  readonly ok: boolean;
  readonly error: Failure;
  readonly path: string;
  readonly allowedDirectories: string[];
  readonly entries: { name: string; relativePath: string; type: string; size?: number; modified: string }[];
  readonly results: {
    path: string;
    ok?: boolean;
    size?: number;
    content?: string;
    info?: Info;
    error?: Failure;
  }[];
  readonly matches: {
    file: string;
    line: number;
    content: string;
    contextBefore: string[];
    contextAfter: string[];
    matchCount: number;
  }[];
  readonly summary: Record<string, unknown>;
  readonly content: string;
  readonly truncated: boolean;
  readonly totalLines?: number;
  readonly info: Info;
}

export class Fixture implements AsyncDisposable {
  readonly path: string;
  readonly wire: ProcessWire;

  private constructor(path: string, wire: ProcessWire) {
    this.path = path;
    this.wire = wire;
  }

  /** A server that has this tree as its only root and its working directory. */
  static async with(
    files: Record<string, string | Uint8Array>,
    options: Omit<StartOptions, "dialect" | "roots"> = {},
  ): Promise<Fixture> {
    const path = mkdtempSync(join(tmpdir(), "polyfs-fs-context-"));
    for (const [name, content] of Object.entries(files)) put(path, name, content);
    const wire = await start({ dialect: "fs-context", roots: [path], cwd: path, ...options });
    await wire.initialize();
    return new Fixture(path, wire);
  }

  put(name: string, content: string | Uint8Array): string {
    return put(this.path, name, content);
  }

  link(target: string, name: string): void {
    symlinkSync(target, join(this.path, name));
  }

  /** Makes a file look that old, in seconds since 1970. */
  age(name: string, seconds: number): void {
    utimesSync(join(this.path, name), seconds, seconds);
  }

  mode(name: string, mode: number): void {
    chmodSync(join(this.path, name), mode);
  }

  async call(name: string, args: object = {}): Promise<Answer> {
    return (await this.wire.call(name, args)) as unknown as Answer;
  }

  async text(name: string, args: object = {}): Promise<string> {
    return (await this.call(name, args)).content[0]?.text ?? "";
  }

  /** What a call that succeeds answers. */
  async done(name: string, args: object = {}): Promise<Structured> {
    const answer = await this.call(name, args);
    if (answer.isError) throw new Error(answer.content[0]?.text);
    return answer.structuredContent;
  }

  /** What a call that fails says. */
  async failure(name: string, args: object = {}): Promise<Failure> {
    const answer = await this.call(name, args);
    if (!answer.isError) throw new Error(`succeeded: ${answer.content[0]?.text.slice(0, 300)}`);
    return answer.structuredContent.error;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.wire.close();
    rmSync(this.path, { recursive: true, force: true });
    if (this.wire.garbage.length > 0) throw new Error(`garbage on the wire: ${this.wire.garbage[0]}`);
  }
}

function put(root: string, name: string, content: string | Uint8Array): string {
  const path = join(root, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}
