// A tree, a state directory, and the program that serves the one and keeps the other: started, killed and started
// again, with the checks that must hold after each accident.
import { spawn } from "node:child_process";
import {
  existsSync,
  lstatSync,
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
import { isTemporaryName } from "../../src/engine/workspace/disk/temporary.ts";
import { ProcessWire } from "../../test/mcp/wire.ts";
import { program } from "../places.ts";

interface Circumstances {
  readonly dialect?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Words before `node`: a tracer, a limit. */
  readonly before?: readonly string[];
  readonly args?: readonly string[];
}

export class ServerUnderTest implements AsyncDisposable {
  readonly base: string;
  readonly root: string;
  readonly state: string;
  readonly #wires = new Set<ProcessWire>();

  /** In a new directory among the temporary ones, or in `base`, which is made. */
  constructor(files: Readonly<Record<string, string>> = {}, base?: string) {
    if (base !== undefined) mkdirSync(base);
    this.base = realpathSync(base ?? mkdtempSync(join(tmpdir(), "polyfs-fault-")));
    this.root = join(this.base, "root");
    this.state = join(this.base, "state");
    mkdirSync(this.root);
    for (const [path, text] of Object.entries(files)) this.put(path, text);
  }

  put(path: string, text: string | Buffer): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }

  async serve({
    dialect = "polyfs",
    env = {},
    before = [],
    args = [],
  }: Circumstances = {}): Promise<ProcessWire> {
    const [command = process.execPath, ...rest] = [...before, process.execPath];
    const options = ["--dialect", dialect, "--state-dir", this.state, ...args, this.root];
    const wire = new ProcessWire(
      spawn(command, [...rest, program, ...options], { env: { ...process.env, ...env } }),
    );
    this.#wires.add(wire);
    await wire.initialize();
    return wire;
  }

  /** Everything in the tree by path: files with their text, directories as "/". */
  tree(): Record<string, string> {
    const found: Record<string, string> = {};
    const visit = (prefix: string) => {
      for (const name of readdirSync(join(this.root, prefix)).sort()) {
        const path = join(prefix, name);
        const directory = lstatSync(join(this.root, path)).isDirectory();
        found[path] = directory ? "/" : readFileSync(join(this.root, path), "latin1");
        if (directory) visit(path);
      }
    };
    visit("");
    return found;
  }

  /** Throws if an accident has left something behind. Asked when a server has started since. */
  orderly(): void {
    const left = Object.keys(this.tree()).filter(path => path.split("/").some(isTemporaryName));
    if (left.length > 0) throw new Error(`left behind: ${left.join(", ")}`);
    const locks = join(this.state, "locks");
    if (existsSync(locks) && readdirSync(locks).length > 0)
      throw new Error(`locks left behind: ${readdirSync(locks).join(", ")}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const wire of this.#wires) await end(wire);
    rmSync(this.base, { recursive: true, force: true });
  }
}

export async function end(wire: ProcessWire, signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
  wire.child.kill(signal);
  await wire.exited();
}

/** Calls a tool; its text, or an error with it where it failed. */
export async function told(wire: ProcessWire, name: string, args: unknown): Promise<string> {
  const { isError, content } = await wire.call(name, args);
  const text = (content as { text?: string }[]).map(part => part.text ?? "").join("\n");
  if (isError) throw new Error(text);
  return text;
}
