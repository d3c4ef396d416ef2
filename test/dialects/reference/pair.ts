// The two servers, each with its own copy of the tree, and the same call to both.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ProcessWire, startProgram } from "../../mcp/wire.ts";
import type { Call } from "./calls.ts";
import { plant, snapshot } from "./tree.ts";

const program = join(import.meta.dirname, "../../../dist/polyfs.cjs");
const original = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-filesystem/dist/index.js"));

type Tree = Readonly<Record<string, string>>;

/** What a server answers, with its own paths as `ROOT` and `OUTSIDE`, and what it has made of its copy. */
export interface Answer {
  readonly isError: boolean;
  /** The text, or the whole content where that is something else. */
  readonly text: string;
  readonly result: unknown;
  readonly tree: Tree;
}

class Side {
  readonly #root: string;
  readonly #outside: string;
  readonly wire: ProcessWire;
  readonly #planted: Tree;
  #current: Tree;

  constructor(base: string, wire: (root: string) => ProcessWire) {
    this.#root = join(base, "root");
    this.#outside = join(base, "outside");
    plant(this.#root, this.#outside);
    this.#planted = this.#snapshot();
    this.#current = this.#planted;
    this.wire = wire(this.#root);
  }

  async ask({ tool, args, writes }: Call): Promise<Answer> {
    this.#restore();
    const own = args === undefined ? undefined : JSON.parse(this.#named(JSON.stringify(args)));
    const { result, error } = await this.wire.request("tools/call", { name: tool, arguments: own });
    const answer = JSON.parse(this.#unnamed(JSON.stringify(result ?? { error })));
    const [first] = answer.content ?? [];
    this.#current = writes ? this.#snapshot() : this.#planted;
    return {
      isError: answer.isError === true,
      text: first?.type === "text" ? first.text : JSON.stringify(answer.content ?? answer),
      result: answer,
      tree: this.#current,
    };
  }

  #restore(): void {
    const paths = [...Object.keys(this.#current), ...Object.keys(this.#planted)];
    const changed = paths.filter(path => this.#current[path] !== this.#planted[path]);
    if (changed.length > 0)
      plant(this.#root, this.#outside, new Set(changed.map(path => path.split("/")[0] ?? "")));
  }

  #snapshot(): Tree {
    const outside = Object.entries(snapshot(this.#outside)).map(([path, what]) => [`OUTSIDE/${path}`, what]);
    return { ...snapshot(this.#root), ...Object.fromEntries(outside) };
  }

  #named(json: string): string {
    return json.replaceAll("ROOT", this.#root).replaceAll("OUTSIDE", this.#outside);
  }

  #unnamed(json: string): string {
    const unnamed = json.replaceAll(this.#root, "ROOT").replaceAll(this.#outside, "OUTSIDE");
    // Each copy has its own times, except for those that were set.
    return unnamed
      .replace(/(created|accessed|modified): (?!Fri Mar 01 2024)[^"\\]*/g, "$1: then")
      .replace(/accessed: Fri[^"\\]*/g, "accessed: then");
  }
}

export class Pair implements AsyncDisposable {
  readonly #base = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-reference-")));
  readonly #ours: Side;
  readonly #theirs: Side;

  private constructor() {
    const env = { POLYFS_STATE_DIR: join(this.#base, "state"), HOME: join(this.#base, "home") };
    const serve = (program: string, name: string, args: readonly string[]) =>
      new Side(join(this.#base, name), root => startProgram(program, { args: [...args, root], env }));
    this.#ours = serve(program, "ours", ["--dialect", "reference"]);
    this.#theirs = serve(original, "them", []);
  }

  static async start(): Promise<Pair> {
    const pair = new Pair();
    for (const { wire } of [pair.#ours, pair.#theirs]) await wire.initialize();
    return pair;
  }

  /** Each call begins on the tree as it was planted. */
  async ask(call: Call): Promise<{ readonly ours: Answer; readonly theirs: Answer }> {
    const [ours, theirs] = await Promise.all([this.#ours.ask(call), this.#theirs.ask(call)]);
    return { ours, theirs };
  }

  /** What each of them lists, ours first. */
  async tools(): Promise<[Record<string, unknown>[], Record<string, unknown>[]]> {
    const [ours, theirs] = await Promise.all(
      [this.#ours, this.#theirs].map(async ({ wire }) => (await wire.request("tools/list")).result?.tools),
    );
    return [ours, theirs] as [Record<string, unknown>[], Record<string, unknown>[]];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { wire } of [this.#ours, this.#theirs]) await wire.close();
    rmSync(this.#base, { recursive: true, force: true });
  }
}
