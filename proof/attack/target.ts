// A server under attack, over stdio or HTTP, and what must hold after each thing that is tried on it: nothing leaked,
// nothing outside changed, nothing left behind, and the server still answers.
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Dialect } from "../../src/contract/dialect.ts";
import { isTemporaryName } from "../../src/engine/workspace/disk/temporary.ts";
import { initialize, legacy } from "../../test/http/wire.ts";
import { type Message, type ProcessWire, start } from "../../test/mcp/wire.ts";
import { codeCache, program } from "../places.ts";
import { Arena } from "./arena.ts";
import type { Spelling } from "./sample.ts";

/** A call that takes longer hangs. Far more than any answer needs, since the machine may be busy with other things. */
const patience = 120_000;

export interface Speaker extends AsyncDisposable {
  request(method: string, params: Record<string, unknown>): Promise<Message>;
  /** What it has said besides answers; must stay empty. */
  garbage(): readonly string[];
}

export class Target implements AsyncDisposable {
  readonly dialect: Dialect;
  readonly arena: Arena;
  readonly #speaker: Speaker;
  #outside: string;

  constructor(dialect: Dialect, arena: Arena, speaker: Speaker) {
    this.dialect = dialect;
    this.arena = arena;
    this.#speaker = speaker;
    this.#outside = arena.fingerprint();
  }

  /** How this dialect's callers spell paths: one contract takes relative ones only. */
  get spelling(): Spelling {
    const at = (name: string) => (this.dialect.name === "fs" ? name : `${this.arena.root}/${name}`);
    return {
      file: at("pub.txt"),
      fresh: at("fresh.txt"),
      directory: this.dialect.name === "fs" ? "." : this.arena.root,
    };
  }

  /** Calls that must come before anything else in a dialect. */
  async prepare(): Promise<void> {
    if (this.dialect.name === "file-editor") await this.call("set_workspace", { path: this.arena.root });
  }

  call(name: string, args: unknown): Promise<Message> {
    return this.request("tools/call", { name, arguments: args });
  }

  async request(method: string, params: Record<string, unknown> = {}): Promise<Message> {
    return within(patience, `${method} has no answer`, this.#speaker.request(method, params));
  }

  /** Throws if something does not hold any more; puts the root in order for the next. */
  async inspect(answer: Message): Promise<void> {
    this.observe(answer);
    const outside = this.arena.fingerprint();
    if (outside !== this.#outside) {
      const before = this.#outside;
      this.#outside = outside;
      throw new Error(`something outside has changed: ${difference(before, outside)}`);
    }
    const left = this.arena.names().filter(isTemporaryName);
    if (this.arena.renew()) this.#outside = this.arena.fingerprint();
    if (left.length > 0) throw new Error(`left behind: ${left.join(", ")}`);
    const pong = await this.request("ping");
    if (pong.result === undefined) throw new Error(`the ping was answered ${JSON.stringify(pong)}`);
  }

  /** Throws if an answer reveals what it must not. */
  observe(answer: Message): void {
    const said = JSON.stringify(answer);
    const leak = this.arena.leak(said);
    if (leak !== undefined) throw new Error(`${leak}: ${said.slice(0, 300)}`);
    if (this.#speaker.garbage().length > 0)
      throw new Error(`no message: ${this.#speaker.garbage()[0]?.slice(0, 200)}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#speaker[Symbol.asyncDispose]();
    this.arena[Symbol.dispose]();
  }
}

export function failed({ error, result }: Message): boolean {
  return error !== undefined || result?.isError === true;
}

/** What servers over stdio are started through. */
let launcher: readonly string[] = [];

/** From now on servers are started with an empty /proc. Only root can do that, on Linux. */
export function hideProc(): void {
  launcher = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=4k,ro none /proc && exec "$@"', "sh"];
}

/** A server of its own for a dialect, over stdio. */
export async function overStdio(
  dialect: Dialect,
  args: readonly string[] = [],
  arena = new Arena(),
): Promise<Target & { readonly wire: ProcessWire }> {
  const around = surroundings(arena, args);
  const wire = await start({ dialect: dialect.name, roots: arena.serves, ...around, through: launcher });
  await wire.initialize();
  const target = new Target(dialect, arena, {
    request: (method, params) => wire.request(method, params),
    garbage: () => wire.garbage,
    [Symbol.asyncDispose]: () => wire.close(),
  });
  await target.prepare();
  return Object.assign(target, { wire });
}

/** One server for all dialects, over HTTP; each target is a session of its own on a tree of its own. */
export async function overHttp(dialect: Dialect): Promise<Target> {
  const arena = new Arena();
  const { args, ...rest } = surroundings(arena, ["--http", "0"]);
  const child = spawn(process.execPath, [program, ...args, arena.root], {
    ...rest,
    env: { ...process.env, ...rest.env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const url = `${await addressOf(child)}/${dialect.name}`;
  const session = await initialize(url);
  let id = 1;
  const target = new Target(dialect, arena, {
    request: async (method, params) => {
      const { message, status, body } = await legacy(url, { id: ++id, method, params }, session);
      if (message.result === undefined && message.error === undefined) {
        return { jsonrpc: "2.0", error: { code: status, message: body } };
      }
      return { jsonrpc: "2.0", ...message };
    },
    garbage: () => [],
    [Symbol.asyncDispose]: () =>
      new Promise<void>(resolve => {
        child.once("close", () => resolve());
        child.kill();
      }),
  });
  await target.prepare();
  return target;
}

/** Everything around the server that an attack may aim at holds the secret. */
function surroundings(arena: Arena, args: readonly string[]) {
  return {
    args: ["--state-dir", arena.state, ...args],
    env: {
      HOME: arena.home,
      // The one thing that the server keeps in its user's home by itself.
      POLYFS_CODE_CACHE: codeCache,
      PROOF_SECRET: arena.secret,
      RIPGREP_CONFIG_PATH: `${arena.root}/.ripgreprc`,
    },
    cwd: arena.root,
  };
}

/** Where the program says that it serves. */
async function addressOf(child: ChildProcess): Promise<string> {
  if (child.stderr === null) throw new Error("the program must be started with a pipe");
  let said = "";
  for await (const line of createInterface(child.stderr)) {
    said += line;
    const url = /http:\/\/\S+\/mcp/.exec(line)?.[0];
    if (url === undefined) continue;
    child.stderr.resume();
    return url;
  }
  throw new Error(`the program does not serve: ${said}`);
}

async function within<T>(milliseconds: number, otherwise: string, action: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${otherwise} after ${milliseconds / 1000} s`)), milliseconds);
  });
  try {
    return await Promise.race([action, late]);
  } finally {
    clearTimeout(timer);
  }
}

function difference(before: string, after: string): string {
  const old = new Set(before.split("\n"));
  return after
    .split("\n")
    .filter(line => !old.has(line))
    .join("; ")
    .slice(0, 300);
}
