// Random work on masked files by a caller that wants the values: it gives a value other surroundings, other names and
// other formats, and lets undo, dry runs and merges of older changes put things together. A person edits the files
// meanwhile, in place. No answer and no file as it is shown may ever hold a value.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mask, maskFormat } from "../../src/engine/policy/mask/mask.ts";
import type { Chance } from "../chance.ts";
import { call } from "../client/client.ts";
import { StdioClient } from "../client/stdio-client.ts";
import type { Trial } from "../suite.ts";
import { Field } from "./field.ts";

const masked = [".netrc", "secrets.json", ".env", "secrets.yaml", "secrets.toml", ".pgpass"];
const open = ["a.txt", "b.txt"];
/** What makes of the text below or above it something else, in one of the formats. */
const surroundings = [
  ...["", "", "", "# note", "machine", "login", "password", "{", "}", "[", "]", ":1", ",", '"', "'", "'''"],
  ...['"k":', "k: |", "k:", "-", "--- |", "k=\\", 'k = """', "/*", "*/", "//", "a:b:c:d:", "export"],
];

export async function attackMaskedHistory({ tally, chance, long }: Trial): Promise<void> {
  if (!tally.wants("masked-history")) return;
  using field = new Field(9);
  const client = await StdioClient.start({
    dialect: "polyfs",
    root: field.root,
    state: join(field.base, "state"),
    args: ["--policy", "default"],
  });
  try {
    for (let i = 0; i < (long ? 600 : 60); i++)
      await tally.attempt(`masked-history ${i}`, () => new Attempt(field, client, chance).run());
  } finally {
    await client.close();
  }
}

class Attempt {
  readonly #root: string;
  readonly #client: StdioClient;
  readonly #chance: Chance;
  readonly #value: string;
  readonly #changes: string[] = [];

  constructor({ root }: Field, client: StdioClient, chance: Chance) {
    this.#root = root;
    this.#client = client;
    this.#chance = chance;
    this.#value = `CANARY${chance.bytes(8).toString("hex")}`;
  }

  async run(): Promise<void> {
    for (const name of [...masked, ...open]) writeFileSync(join(this.#root, name), "# empty\n");
    const file = this.#chance.pick(masked);
    const frame = this.#frame(file);
    this.#edit(file, frame);
    await this.#tool("write_file", { path: file, content: frame("dummy") });
    for (let i = 0; i < 6; i++) await this.#play(file, frame);
  }

  /** A text around a line that is hidden there, with space for merges. */
  #frame(file: string): Frame {
    for (;;) {
      const [above, below] = [this.#lines(), this.#lines()];
      const frame: Frame = value => [...above, "", "", value, "", "", ...below, ""].join("\n");
      if (!shown(file, frame(this.#value)).includes(this.#value)) return frame;
    }
  }

  #lines(): string[] {
    return Array.from({ length: this.#chance.below(4) }, () => this.#chance.pick(surroundings));
  }

  /** A person writes the value into a file where it is hidden. */
  #edit(file: string, frame: Frame): void {
    const at = join(this.#root, file);
    const text = frame(this.#value);
    if (existsSync(at) && !shown(file, text).includes(this.#value)) writeFileSync(at, text);
  }

  async #play(file: string, frame: Frame): Promise<void> {
    const names = [file, file, ...masked];
    if (this.#chance.below(3) > 0) {
      // Other surroundings, then an older change undone: most often the one that replaced the value.
      await this.#tool("write_file", { path: file, content: this.#reframed(frame) });
      const change = this.#chance.below(2) === 0 ? this.#changes[0] : this.#chance.pick(this.#changes);
      await this.#undo(change);
      return;
    }
    // Another file in its place, the value written into that, and the move undone.
    const [from, to] = [this.#chance.pick([...names, ...open]), this.#chance.pick(names)];
    await this.#tool("move_path", { from, to, overwrite: true });
    this.#edit(to, frame);
    await this.#undo(this.#changes.at(-1));
  }

  async #undo(change = "none"): Promise<void> {
    if (this.#chance.below(2) === 0) await this.#tool("undo", { change, dry_run: true });
    await this.#tool("undo", { change });
  }

  /** The text without the value, and with another line in place of one of the others, or beside it. */
  #reframed(frame: Frame): string {
    const lines = frame("dummy").split("\n");
    const at = lines.indexOf("dummy") + this.#chance.pick([-4, -3, 3, 4]);
    if (at >= 0) lines.splice(at, this.#chance.below(2), this.#chance.pick(surroundings));
    return lines.join("\n");
  }

  async #tool(name: string, args: Record<string, unknown>): Promise<void> {
    const { text } = await call(this.#client, name, args);
    const change = /\bchange (\w+)/.exec(text)?.[1];
    if (change !== undefined) this.#changes.push(change);
    const leaked = [text, ...[...masked, ...open].map(path => this.#seen(path))].find(one =>
      one.includes(this.#value),
    );
    if (leaked !== undefined) throw new Error(`after ${name} ${JSON.stringify(args)}: ${leaked}`);
  }

  /** A file as a caller sees it. */
  #seen(path: string): string {
    const at = join(this.#root, path);
    if (!existsSync(at)) return "";
    const text = readFileSync(at, "utf8");
    return open.includes(path) ? text : shown(path, text);
  }
}

type Frame = (value: string) => string;

function shown(path: string, text: string): string {
  return mask(text, maskFormat(path)) ?? "";
}
