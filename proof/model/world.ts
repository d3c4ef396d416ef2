// One program as it runs: what the model says, what the servers answer and what is on the disk, compared after
// every step.
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Answer, type Client, call } from "../client/client.ts";
import { type Call, callOf, type Spelling, spellings, versionOf } from "./calls.ts";
import { after, Unsure } from "./expect.ts";
import type { Changing, Reading } from "./operation.ts";
import { type Change, undone, untouchedBy } from "./past.ts";
import { complaint } from "./readings.ts";
import type { Servers } from "./servers.ts";
import { differences, find, Refused, readTree, sameNode, show, type Tree } from "./tree.ts";

/** Temporary files are removed shortly after an answer. */
const settlingMs = 20_000;

/** An entry of the history: its id, its tool, and all that is said about it. */
interface Listed {
  readonly id: string;
  readonly tool: string;
  readonly text: string;
}

export class World {
  readonly servers: Servers;
  readonly changes: Change[] = [];
  /** What was done, for people. */
  readonly log: string[] = [];
  tree: Tree;
  readonly #program: string;
  readonly #spellings: readonly Spelling[];
  #tags = 0;

  constructor(servers: Servers, program: string) {
    this.servers = servers;
    this.#program = program;
    this.#spellings = spellings(servers.root, program);
    this.tree = this.disk();
  }

  disk(): Tree {
    return readTree(join(this.servers.root, this.#program));
  }

  /** A text that occurs nowhere yet, and contains no other. */
  tag(): string {
    return `t${++this.#tags}`;
  }

  client(via: number): Client {
    const client = this.servers.own[via % this.servers.own.length];
    if (client === undefined) throw new Error("no server");
    return client;
  }

  shown(path: string): string {
    return path === "" ? this.#program : `${this.#program}/${path}`;
  }

  absolute(path: string): string {
    return join(this.servers.root, this.#program, path);
  }

  callFor(operation: Changing | Reading, via: number): Call {
    const plain = operation.do === "patch";
    const spelled = this.#spellings[plain ? 0 : via % this.#spellings.length] ?? this.#spellings[0];
    return callOf(operation, path => (spelled ?? String)(path));
  }

  async send(client: Client, { tool, args }: Call): Promise<Answer> {
    const answer = await call(client, tool, args);
    const outcome = answer.failed ? `refused: ${answer.text.split("\n")[0]}` : "done";
    this.log.push(`${tool} ${JSON.stringify(args)} -> ${outcome}`);
    return answer;
  }

  async read(operation: Reading, via: number): Promise<void> {
    const answer = await this.send(this.client(via), this.callFor(operation, via));
    try {
      const wrong = complaint(this.tree, operation, answer.text, path => this.shown(path));
      if (answer.failed) throw new Error(`refused: ${answer.text}`);
      if (wrong !== undefined) throw new Error(wrong);
    } catch (error) {
      this.#agrees(answer, error);
    }
  }

  /** Makes a change and compares; `call` where it is said in another dialect. */
  async change(operation: Changing, client: Client, said: Call): Promise<void> {
    const before = this.tree;
    const expected = outcome(() => after(before, operation, !this.servers.own.includes(client)));
    const answer = await this.send(client, said);
    if (!(expected instanceof Map)) {
      this.#agrees(answer, expected);
      return await this.#stands(before);
    }
    if (answer.failed) throw new Error(`refused, but should be done: ${answer.text}`);
    await this.#stands(expected);
    this.#namesVersion(operation, answer, expected);
    this.tree = expected;
    await this.#remember(client, before, fileOf(operation, before));
  }

  async undo(change: Change, args: Readonly<Record<string, unknown>>, via: number): Promise<void> {
    const before = this.tree;
    const client = this.client(via);
    const expected = outcome(() => undone(before, change));
    const answer = await this.send(client, { tool: "undo", args });
    if (expected instanceof Error) {
      this.#agrees(answer, expected);
      return await this.#stands(before);
    }
    if (expected === "open") {
      if (answer.failed) return await this.#stands(before);
      await pause(50);
      const now = this.disk();
      const lost = untouchedBy(before, change).filter(path => !sameNode(before.get(path), now.get(path)));
      if (lost.length > 0) throw new Error(`an undo changed unrelated paths: ${lost}`);
      this.tree = now;
    } else {
      if (answer.failed) throw new Error(`an undo was refused: ${answer.text}`);
      await this.#stands(expected);
      this.tree = expected;
    }
    await this.#remember(client, before, undefined);
  }

  /** The newest changes as they are listed, newest first. */
  async newest(client: Client, limit: number): Promise<Listed[]> {
    // Other dialects have no history of their own: any of our own connections sees the same.
    const own = this.servers.own.includes(client) ? client : this.client(0);
    const { text } = await call(own, "list_changes", { limit, path: this.#program });
    const entries = text.split(/\n(?=\w)/).filter(entry => / · /.test(entry));
    return entries.map(entry => {
      const [id = "", , tool = ""] = entry.split("\n", 1)[0]?.split(" · ") ?? [];
      return { id, tool, text: entry };
    });
  }

  async #remember(client: Client, before: Tree, file: string | undefined): Promise<void> {
    const changed = differences(before, this.tree).length > 0;
    const [latest] = await this.recorded(client, 1);
    if (latest === undefined && changed) throw new Error("a change is not in the history");
    if (latest === undefined) return;
    this.changes.push({ id: latest.id, before, after: this.tree, ...(file !== undefined && { file }) });
  }

  /** What was recorded lately, whichever server did it. */
  async recorded(client: Client, most: number): Promise<Listed[]> {
    const listed = await this.newest(client, most);
    return listed.filter(({ id }) => !this.changes.some(one => one.id === id));
  }

  async #stands(expected: Tree): Promise<void> {
    const from = Date.now();
    for (;;) {
      const now = this.disk();
      const [path] = differences(expected, now);
      if (path === undefined) return;
      if (Date.now() - from > settlingMs)
        throw new Error(
          `${JSON.stringify(path)} is ${show(now.get(path))}, should be ${show(expected.get(path))}`,
        );
      await pause(20);
    }
  }

  /** A refusal that the model knows, with one of its codes. */
  #agrees(answer: Answer, expected: unknown): void {
    if (!(expected instanceof Refused)) throw expected;
    if (!answer.failed) throw new Error(`done, but should be refused with ${expected.message}`);
    if (!expected.codes.includes(codeOf(answer)))
      throw new Error(`refused with ${answer.text.split("\n")[0]}, should be ${expected.message}`);
  }

  #namesVersion(operation: Changing, { text }: Answer, tree: Tree): void {
    if ((operation.do !== "write" && operation.do !== "edit") || !text.includes("v:")) return;
    const { node } = find(tree, operation.path, true);
    if (node?.kind === "file" && !text.includes(versionOf(node.bytes)))
      throw new Error(`the answer names another version than ${versionOf(node.bytes)}: ${text}`);
  }
}

export function codeOf({ text }: Answer): string {
  return text.slice(0, text.indexOf(":"));
}

/** The value, or the refusal. */
export function outcome<T>(get: () => T): T | Refused | Unsure {
  try {
    return get();
  } catch (error) {
    if (error instanceof Refused || error instanceof Unsure) return error;
    throw error;
  }
}

function fileOf(operation: Changing, tree: Tree): string | undefined {
  if (operation.do !== "write" && operation.do !== "edit") return undefined;
  return find(tree, operation.path, true).at;
}
