// Two servers on two trees that differ only in their secrets. Every call is made on both, and the answers must be the
// same: then no answer depends on a secret, be it by its text, its length, its hash or a count.
import type { Dialect } from "../../src/contract/dialect.ts";
import { type Message, type ProcessWire, start } from "../../test/mcp/wire.ts";
import type { Spelling } from "../attack/sample.ts";
import { codeCache } from "../places.ts";
import { Field } from "./field.ts";

interface Twin {
  readonly field: Field;
  readonly wire: ProcessWire;
}

/** A request, made for a tree. */
export type Asking = (root: string) => { readonly method: string; readonly params: Record<string, unknown> };

export class Twins implements AsyncDisposable {
  readonly dialect: Dialect;
  readonly #pair: readonly [Twin, Twin];

  private constructor(dialect: Dialect, pair: readonly [Twin, Twin]) {
    this.dialect = dialect;
    this.#pair = pair;
  }

  static async start(dialect: Dialect, args: readonly string[] = []): Promise<Twins> {
    const [first, second] = await Promise.all([8, 13].map(length => twin(dialect, args, new Field(length))));
    if (first === undefined || second === undefined) throw new Error("no servers");
    return new Twins(dialect, [first, second]);
  }

  get fields(): readonly Field[] {
    return this.#pair.map(({ field }) => field);
  }

  /** Paths that no rule concerns, as this dialect's callers write them. */
  spelling(root: string): Spelling {
    const at = (name: string) => (this.dialect.name === "fs" ? name : `${root}/${name}`);
    return {
      file: at("pub.txt"),
      fresh: at("fresh.txt"),
      directory: this.dialect.name === "fs" ? "." : root,
    };
  }

  /** Asks both. Throws if a secret is revealed, or shows in the difference, or something was done that must not be. */
  async ask(asking: Asking): Promise<Message> {
    const [first, second] = await Promise.all(this.#pair.map(one => this.#answer(one, asking)));
    try {
      for (const [i, { field }] of this.#pair.entries()) {
        const damage = field.damage();
        if (damage !== undefined) throw new Error(`${damage} after ${first?.plain.slice(0, 300)}`);
        const { said } = (i === 0 ? first : second) ?? { said: "" };
        if (field.isIn(said)) throw new Error(`the secret is told: ${said.slice(0, 600)}`);
      }
      if (first?.plain !== second?.plain) throw new Error(difference(first?.plain, second?.plain));
    } finally {
      for (const { field } of this.#pair) field.renew();
    }
    return first?.message as Message;
  }

  async #answer({ field, wire }: Twin, asking: Asking) {
    const { method, params } = asking(field.root);
    const { id: _, ...message } = await wire.request(method, params);
    const said = JSON.stringify(message);
    return { message, said, plain: plain(said, field) };
  }

  /** What the servers have written besides answers must not tell either. */
  async end(): Promise<void> {
    for (const { wire } of this.#pair) await wire.close();
    const audits = this.#pair.map(({ field }) => plain(field.audit, field).split("\n"));
    for (const [i, line] of (audits[0] ?? []).entries())
      if (line !== audits[1]?.[i]) throw new Error(`audit: ${difference(line, audits[1]?.[i])}`);
    for (const { field, wire } of this.#pair) {
      if (field.isIn(wire.stderr)) throw new Error(`the secret is in the log: ${wire.stderr.slice(0, 300)}`);
      if (field.isIn(field.audit)) throw new Error("the secret is in the audit log");
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { field, wire } of this.#pair) {
      await wire.close();
      field[Symbol.dispose]();
    }
  }
}

async function twin(dialect: Dialect, args: readonly string[], field: Field): Promise<Twin> {
  const wire = await start({
    dialect: dialect.name,
    roots: [field.root],
    args: [...field.options, ...args],
    env: { HOME: field.base, POLYFS_CODE_CACHE: codeCache },
    cwd: field.root,
  });
  await wire.initialize();
  if (dialect.name === "file-editor") await wire.call("set_workspace", { path: field.root });
  return { field, wire };
}

/** Without what differs by chance: places, times, and the names of changes and of files of our own. */
function plain(said: string, { base }: Field): string {
  return said
    .replaceAll(base.slice(1), "BASE")
    .replace(/\b(bash|output)-[0-9a-f]{8,12}\b/g, "$1-ID")
    .replaceAll(encodeURIComponent(base), "BASE")
    .replace(/(?<=\\n|\b)[mn][0-9a-z]{13}\b/g, "ID")
    .replace(/"(?:prev|seq|chain|bytesOut|pid|time|ms|session|trace_id|hash)":(?:"[^"]*"|[\d.]+),?/g, "")
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?Z?/g, "TIME")
    .replace(/\w{3} \w{3} \d\d \d{4} \d\d:\d\d:\d\d [^"\\]*?\)/g, "TIME")
    .replace(/\b1[67]\d{8}(?:\d{3})?(?:\.\d+)?\b/g, "TIME")
    .replace(/\b\d+(?:\.\d+)? ?m?s\b/g, "TIME");
}

function difference(a = "", b = ""): string {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  const from = Math.max(0, at - 120);
  return `answers differ: …${a.slice(from, at + 120)}… and …${b.slice(from, at + 120)}…`;
}
