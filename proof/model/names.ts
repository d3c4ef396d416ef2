// The round trip of names: what is under any bytes can be created, listed, read, found, edited, moved, deleted and
// restored, under the names that answers print. The model is a map from the bytes of a name to the content.
import { isUtf8 } from "node:buffer";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { abreast } from "../abreast.ts";
import { Chance } from "../chance.ts";
import { type Client, call } from "../client/client.ts";
import { StdioClient } from "../client/stdio-client.ts";
import type { Trial } from "../suite.ts";
import { byteName, toldAs } from "./byte-names.ts";
import type { Servers } from "./servers.ts";

const shortNames = 60;
const longNames = 10_000;
const perDirectory = 30;
const workers = 4;

/** By the bytes of the name as Latin-1. */
type Files = Map<string, string>;

export async function names(servers: Servers, trial: Trial): Promise<void> {
  const directories = Array.from({ length: Math.ceil((trial.long ? longNames : shortNames) / perDirectory) });
  const trips = directories.map((_, i): OneTrip => {
    return { directory: `names-${i * perDirectory}`, chance: new Chance(trial.chance.below(2 ** 32)) };
  });
  const wanted = trips.filter(({ directory }) => trial.tally.wants(directory));
  if (!trial.long) {
    for (const [i, trip] of wanted.entries()) {
      const client = servers.own[i % servers.own.length];
      if (client !== undefined) await go(trip, client, servers.root, trial);
    }
    return;
  }
  // Each worker has a history of its own: otherwise every undo waits until all workers have recorded their changes.
  let done = 0;
  const worker = (number: number) => async () => {
    const [root, state] = [join(servers.root, `worker-${number}`), `${servers.root}-worker-${number}`];
    mkdirSync(root);
    const client = await StdioClient.start({ dialect: "polyfs", root, state, patienceMs: 120_000 });
    try {
      for (let trip = wanted.shift(); trip !== undefined; trip = wanted.shift()) {
        await go(trip, client, root, trial);
        if (++done % 30 === 0) trial.say(`${done * perDirectory} names so far`);
      }
    } finally {
      await client.close();
      rmSync(root, { recursive: true, force: true });
    }
  };
  await abreast(
    Array.from({ length: workers }, (_, i) => worker(i)),
    workers,
  );
}

interface OneTrip {
  readonly directory: string;
  readonly chance: Chance;
}

async function go({ directory, chance }: OneTrip, client: Client, root: string, trial: Trial): Promise<void> {
  const trip = new Trip(client, root, directory, chance);
  await trial.tally.attempt(directory, () => trip.run());
  trial.tally.survived(trip.calls);
}

class Trip {
  readonly #client: Client;
  readonly #root: string;
  readonly #directory: string;
  readonly #chance: Trial["chance"];
  #files: Files = new Map();
  calls = 0;

  constructor(client: Client, root: string, directory: string, chance: Trial["chance"]) {
    this.#client = client;
    this.#root = root;
    this.#directory = directory;
    this.#chance = chance;
  }

  async run(): Promise<void> {
    mkdirSync(join(this.#root, this.#directory));
    await this.#create();
    let printed = await this.#printed();
    await this.#areFound(printed);
    const start = new Map(this.#files);
    const changes = await this.#each(printed, (name, key) => this.#edit(name, key));
    this.#stands("editing");
    const edited = new Map(this.#files);
    const moves: string[] = [];
    for (const [name, key] of printed) moves.push(await this.#move(name, key));
    this.#stands("moving");
    const moved = new Map(this.#files);
    printed = await this.#printed();
    const deletions = await this.#each(printed, (name, key) => this.#delete(name, key));
    this.#stands("deleting");
    await this.#takeBack(deletions, moved, "undoing the deletions");
    const whole = await this.#say("delete_path", { path: this.#directory, recursive: true });
    this.#files = new Map();
    this.#stands("deleting the directory");
    await this.#takeBack([idIn(whole)], moved, "undoing the deletion of the directory");
    await this.#takeBack(moves, edited, "undoing the moves");
    await this.#takeBack(changes, start, "undoing the edits");
    await this.#say("delete_path", { path: this.#directory, recursive: true });
  }

  /** Calls for several names at once, as clients send them. */
  #each<T>(
    printed: ReadonlyMap<string, string>,
    act: (name: string, key: string) => Promise<T>,
  ): Promise<T[]> {
    return Promise.all([...printed].map(([name, key]) => act(name, key)));
  }

  async #create(): Promise<void> {
    for (let i = 0; i < perDirectory; i++) {
      const name = byteName(this.#chance, this.#files);
      const key = name.toString("latin1");
      const content = `tag-${this.#directory}-${i}.\n`;
      this.#files.set(key, content);
      const told = i % 2 === 0 ? toldAs(name) : undefined;
      if (told === undefined) writeFileSync(this.#onDisk(name), content);
      else await this.#make(name, told, content);
    }
    this.#stands("creating");
  }

  /** A name whose other Unicode form is there means that one: nothing is created beside it but by others. */
  async #make(name: Buffer, told: string, content: string): Promise<void> {
    const args = { path: this.#at(told), content, mode: "create" };
    if (this.#twinsOf(name).length !== 1) {
      await this.#say("write_file", args);
      return;
    }
    this.calls++;
    const { text, failed } = await call(this.#client, "write_file", args);
    if (!failed || !text.startsWith("exists"))
      throw new Error(`write_file ${JSON.stringify(args)} beside its other form: ${text}`);
    writeFileSync(this.#onDisk(name), content);
  }

  /** The other files whose names are the same text in another Unicode form. */
  #twinsOf(name: Buffer): string[] {
    const key = name.toString("latin1");
    const form = textOf(name)?.normalize("NFC");
    if (form === undefined) return [];
    return [...this.#files.keys()].filter(
      other => other !== key && textOf(Buffer.from(other, "latin1"))?.normalize("NFC") === form,
    );
  }

  /** The names that a listing prints, each with the bytes that it means, found by reading there. */
  async #printed(): Promise<ReadonlyMap<string, string>> {
    const scope = { ignored: true, hidden: true, limit: 1000 };
    const text = await this.#say("list_directory", { path: this.#directory, ...scope });
    const lines = text.split("\n").slice(1);
    const keys = new Map([...this.#files].map(([key, content]) => [content, key]));
    const found = new Map<string, string>();
    const reads = await Promise.all(lines.map(name => this.#say("read_file", { path: this.#at(name) })));
    for (const [i, name] of lines.entries()) {
      const read = reads[i] ?? "";
      const key = keys.get(`${read.slice(read.indexOf("\n1: ") + 4)}\n`);
      if (key === undefined) throw new Error(`${JSON.stringify(name)} reads ${JSON.stringify(read)}`);
      found.set(name, key);
    }
    if (found.size !== this.#files.size || new Set(found.values()).size !== found.size)
      throw new Error(`${found.size} names are listed for ${this.#files.size}: ${JSON.stringify(lines)}`);
    return found;
  }

  /** One search finds them all, each under its name. */
  async #areFound(printed: ReadonlyMap<string, string>): Promise<void> {
    const scope = { path: this.#directory, ignored: true, hidden: true };
    const pattern = `tag-${this.#directory}-`;
    const text = await this.#say("search_text", { pattern, literal: true, ...scope });
    const hits = new Set(text.split(/\n\n?/));
    const heads = [...hits].filter(line => line.startsWith(`${this.#directory}/`));
    for (const [name, key] of printed) {
      const isHead = (line: string) => line === this.#at(name) || line.startsWith(`${this.#at(name)} · `);
      if (!heads.some(isHead) || !hits.has(`1: ${this.#files.get(key)?.trim()}`))
        throw new Error(`${JSON.stringify(name)} is found as ${text}`);
    }
  }

  async #edit(name: string, key: string): Promise<string> {
    const old = this.#files.get(key)?.trim() ?? "";
    const text = await this.#say("edit_file", { path: this.#at(name), edits: [{ old, new: `new ${old}` }] });
    this.#files.set(key, `new ${old}\n`);
    return idIn(text);
  }

  async #move(name: string, key: string): Promise<string> {
    const content = this.#files.get(key) ?? "";
    for (;;) {
      const to = byteName(this.#chance, this.#files);
      const told = toldAs(to);
      if (told === undefined || this.#twinsOf(to).some(other => other !== key)) continue;
      const text = await this.#say("move_path", { from: this.#at(name), to: this.#at(told) });
      this.#files.delete(key);
      this.#files.set(to.toString("latin1"), content);
      return idIn(text);
    }
  }

  async #delete(name: string, key: string): Promise<string> {
    const text = await this.#say("delete_path", { path: this.#at(name) });
    this.#files.delete(key);
    return idIn(text);
  }

  async #takeBack(changes: readonly string[], files: Files, what: string): Promise<void> {
    for (const change of changes.toReversed()) await this.#say("undo", { change });
    this.#files = new Map(files);
    this.#stands(what);
  }

  /** Compares with the disk, byte for byte. */
  #stands(what: string): void {
    const disk: Files = new Map();
    const path = join(this.#root, this.#directory);
    try {
      for (const name of readdirSync(path, "buffer"))
        disk.set(name.toString("latin1"), readFileSync(this.#onDisk(name), "utf8"));
    } catch (error) {
      if (this.#files.size > 0) throw error;
    }
    for (const key of new Set([...this.#files.keys(), ...disk.keys()])) {
      const [wanted, got] = [this.#files.get(key), disk.get(key)];
      if (wanted !== got) throw new Error(`after ${what}, ${JSON.stringify(key)} is ${got}, not ${wanted}`);
    }
  }

  #onDisk(name: Buffer): Buffer {
    return Buffer.concat([Buffer.from(`${this.#root}/${this.#directory}/`), name]);
  }

  #at(name: string): string {
    return `${this.#directory}/${name}`;
  }

  async #say(tool: string, args: object): Promise<string> {
    this.calls++;
    const { text, failed } = await call(this.#client, tool, args);
    if (failed) throw new Error(`${tool} ${JSON.stringify(args)}: ${text}`);
    return text;
  }
}

/** Undefined for bytes that are not text. */
function textOf(name: Buffer): string | undefined {
  return isUtf8(name) ? name.toString("utf8") : undefined;
}

function idIn(answer: string): string {
  const id = /change (\w+)|^(\w+) · /.exec(answer)?.slice(1).find(Boolean);
  if (id === undefined) throw new Error(`no change is named: ${answer}`);
  return id;
}
