// Random edits of files whose values the caller cannot see, by a caller that knows only the masked text. A model holds
// the real lines. After each edit the file must hold exactly these, after its undo exactly those from before.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Chance } from "../chance.ts";
import { type Answer, call } from "../client/client.ts";
import { StdioClient } from "../client/stdio-client.ts";
import type { Trial } from "../suite.ts";
import { Field } from "./field.ts";

interface Line {
  readonly key?: string;
  readonly shown: string;
  readonly real: string;
}

/** How a format writes a value, a comment, and the text around them. */
interface Format {
  readonly file: string;
  entry(key: string, value: string): string;
  readonly comment: string;
  readonly first?: string;
  readonly last?: string;
}

const mask = "••••";
const formats: readonly Format[] = [
  { file: "a/.env", entry: (key, value) => `${key}=${value}`, comment: "#" },
  { file: "b/.env", entry: (key, value) => `export ${key}="${value}"`, comment: "#" },
  {
    file: "c/secrets.json",
    entry: (key, value) => `  "${key}": "${value}",`,
    comment: "  //",
    first: "{",
    last: '  "end": true\n}',
  },
  { file: "d/secrets.yaml", entry: (key, value) => `${key}: ${value}`, comment: "#" },
  { file: "e/secrets.toml", entry: (key, value) => `${key} = "${value}"`, comment: "#" },
];

export async function editMasked({ tally, chance, long }: Trial): Promise<void> {
  if (!tally.wants("edit")) return;
  using field = new Field(8);
  for (const { file } of formats) mkdirSync(join(field.root, file.replace(/\/.*/, "")));
  const client = await StdioClient.start({
    dialect: "polyfs",
    root: field.root,
    state: join(field.base, "state"),
    args: ["--policy", join(field.base, "policy.json")],
  });
  const secrets = new Secrets(chance);
  const files = formats.map(format => new MaskedFile(field, format, secrets));
  try {
    for (let i = 0; i < (long ? 10_000 : 1000); i++) {
      const file = chance.pick(files);
      await tally.attempt(`edit ${i} of ${file.format.file}`, () => file.step(client, chance));
    }
  } finally {
    await client.close();
  }
}

class Secrets {
  readonly #chance: Chance;
  readonly all: string[] = [];

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  next(): string {
    const secret = `CANARY${this.#chance.bytes(4 + this.#chance.below(12)).toString("hex")}`;
    this.all.push(secret);
    return secret;
  }
}

class MaskedFile {
  readonly format: Format;
  readonly #at: string;
  readonly #secrets: Secrets;
  #lines: Line[];
  #names = 0;

  constructor({ root }: Field, format: Format, secrets: Secrets) {
    this.format = format;
    this.#at = join(root, format.file);
    this.#secrets = secrets;
    this.#lines = [
      ...(format.first ? [same(format.first)] : []),
      ...Array.from({ length: 6 }, () => this.#entry(secrets.next())),
      ...(format.last ? [same(format.last)] : []),
    ];
    writeFileSync(this.#at, this.#text(this.#lines, "real"));
  }

  /** One edit, its undo, and the undo of that. */
  async step(client: StdioClient, chance: Chance): Promise<void> {
    const before = this.#lines;
    const after = this.#changed(chance);
    this.#quiet(await this.#edit(client, chance, before, after));
    this.#holds(after, "after the edit");
    const undone = await call(client, "undo", {});
    this.#quiet(undone);
    this.#holds(before, "after the undo");
    const change = /\bchange (\w+)/.exec(undone.text)?.[1];
    // If nothing was undone, the next undo would go further back.
    if (change !== undefined) this.#quiet(await call(client, "undo", { change }));
    this.#holds(after, "after the undo of the undo");
    this.#lines = after.map(({ key, ...line }) =>
      key === undefined ? line : { key, shown: this.format.entry(key, mask), real: line.real },
    );
    const read = await call(client, "read_file", { path: this.format.file });
    this.#quiet(read);
    for (const { shown } of this.#lines)
      for (const line of shown.split("\n"))
        if (!read.text.includes(line)) throw new Error(`${JSON.stringify(line)} is not in ${read.text}`);
  }

  /** Other lines: something added, set on purpose, taken out, renamed, or said. */
  #changed(chance: Chance): Line[] {
    const lines = [...this.#lines];
    const [low, high] = [this.format.first ? 1 : 0, lines.length - (this.format.last ? 1 : 0)];
    const at = low + chance.below(high - low);
    const old = lines[at] as Line;
    const isFull = high - low > 14;
    const what = chance.pick(["add", "set", "remove", "comment", "swap"]);
    if (what === "set" && old.key !== undefined) lines[at] = this.#entry("changed", old.key);
    else if (what === "swap" && at + 1 < high)
      lines.splice(at, 2, lines[at + 1] as Line, old); // keys keep their values where they go
    else if ((what === "remove" || isFull) && high - low > 3) lines.splice(at, 1);
    else if (what === "comment") lines.splice(at, 0, same(`${this.format.comment} note ${++this.#names}`));
    else lines.splice(at, 0, this.#entry(`added${++this.#names}`));
    return lines;
  }

  /** By one of the tools that write, with the masked text alone. */
  #edit(
    client: StdioClient,
    chance: Chance,
    before: readonly Line[],
    after: readonly Line[],
  ): Promise<Answer> {
    const path = this.format.file;
    const [old, made] = [before, after].map(lines => this.#text(lines, "shown")) as [string, string];
    switch (chance.below(4)) {
      case 0:
        return call(client, "write_file", { path, content: made });
      case 1:
        return call(client, "edit_file", { path, edits: [{ old, new: made }] });
      case 2: {
        const minus = old
          .trimEnd()
          .split("\n")
          .map(line => `-${line}`);
        const plus = made
          .trimEnd()
          .split("\n")
          .map(line => `+${line}`);
        const patch = [
          "*** Begin Patch",
          `*** Update File: ${path}`,
          "@@",
          ...minus,
          ...plus,
          "*** End Patch",
        ];
        return call(client, "apply_patch", { patch: `${patch.join("\n")}\n` });
      }
      default: {
        const [first, last] = [firstDifference(before, after), lastDifference(before, after)];
        const from = before.slice(Math.max(0, first - 1), before.length - Math.max(0, last - 1));
        const to = after.slice(Math.max(0, first - 1), after.length - Math.max(0, last - 1));
        const edit = { old: this.#text(from, "shown"), new: this.#text(to, "shown") };
        return call(client, "edit_file", { path, edits: [edit] });
      }
    }
  }

  /** What is set on purpose is seen in the edit that sets it, and hidden from the next read on. */
  #entry(value: string, key = `KEY_${++this.#names}`): Line {
    const isSecret = value.startsWith("CANARY");
    const shown = this.format.entry(key, isSecret ? mask : value);
    return { key, shown, real: this.format.entry(key, value) };
  }

  #holds(lines: readonly Line[], when: string): void {
    const found = readFileSync(this.#at, "utf8");
    const expected = this.#text(lines, "real");
    if (found !== expected)
      throw new Error(`${when}: ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`);
  }

  #quiet({ text, failed }: Answer): void {
    for (const secret of this.#secrets.all) if (text.includes(secret)) throw new Error(`told: ${text}`);
    if (failed) throw new Error(text);
  }

  #text(lines: readonly Line[], as: "shown" | "real"): string {
    return `${lines.map(line => line[as]).join("\n")}\n`;
  }
}

function same(text: string): Line {
  return { shown: text, real: text };
}

function firstDifference(a: readonly Line[], b: readonly Line[]): number {
  let at = 0;
  while (at < Math.min(a.length, b.length) && a[at] === b[at]) at++;
  return at;
}

/** Counted from the end, not beyond the first. */
function lastDifference(a: readonly Line[], b: readonly Line[]): number {
  const most = Math.min(a.length, b.length) - firstDifference(a, b);
  let at = 0;
  while (at < most && a.at(-1 - at) === b.at(-1 - at)) at++;
  return at;
}
