// Two machines and a plain program edit one file. At each moment of a send, any of them may act, and the send may fail
// or lose its answer. Each edit inserts a line of its own after a line that only its author uses, so none of them
// overlap: an edit that was answered is there once, one that was refused is not there, and all copies are alike.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Fault } from "../../src/engine/fault.ts";
import { Fixture, type Machine } from "./fixture.ts";

const rounds = Number(process.env.POLYFS_INTERLEAVED ?? 20);
const first = Number(process.env.POLYFS_INTERLEAVED_SEED ?? 1);

const authors = ["a", "b", "program-a", "program-b"];
/** Lines that nobody changes keep the authors' lines apart. */
const start = authors.map(author => `${author}:\n1\n2\n3\n`).join("");

/** mulberry32 */
function chance(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

class Round {
  readonly #pick: (below: number) => number;
  /** How often each line may be there. */
  readonly allowed = new Map<string, readonly number[]>();
  readonly events: string[] = [];
  /** What is sent in the background is left alone from then on. */
  isOver = false;
  #count = 0;
  #depth = 0;

  constructor(seed: number) {
    this.#pick = chance(seed);
  }

  /** Whether it comes to that, once in `among` times. */
  once(among: number): boolean {
    return this.#pick(among) === 0;
  }

  #insert(author: string): { line: string; into: (text: string) => string } {
    const line = `${author} ${++this.#count}`;
    return { line, into: text => text.replace(`${author}:\n`, `${author}:\n${line}\n`) };
  }

  /** An edit through polyfs. */
  async edit(name: string, machine: Machine): Promise<void> {
    const { line, into } = this.#insert(name);
    this.events.push(`${line} begins`);
    const outcome = await machine.edit("f", into).then(
      () => "made",
      (error: unknown) => {
        if (!(error instanceof Fault)) throw error;
        return Fault.is(error, "store_unavailable") && error.data.change === "unknown"
          ? "unknown"
          : error.code;
      },
    );
    this.events.push(`${line}: ${outcome}`);
    const isThere = outcome === "made" || outcome === "not_applied";
    this.allowed.set(line, isThere ? [1] : outcome === "unknown" ? [0, 1] : [0]);
  }

  /** A program writes into the file, or replaces it. */
  program(name: string, machine: Machine): void {
    const { line, into } = this.#insert(`program-${name}`);
    const file = join(machine.root, "f");
    const text = into(readFileSync(file, "utf8"));
    const isReplaced = this.once(2);
    this.events.push(`${line} ${isReplaced ? "replaces" : "writes"}`);
    writeFileSync(isReplaced ? `${file}.new` : file, text);
    if (isReplaced) renameSync(`${file}.new`, file);
    this.allowed.set(line, [1]);
  }

  /** What happens during a send of `name`. */
  async meanwhile(name: string, machine: Machine, other: Machine, when: string): Promise<void> {
    if (this.#depth > 0) return;
    this.#depth++;
    this.events.push(`-- ${when} of ${name}`);
    if (this.once(2)) this.program(name, machine);
    if (this.once(3)) {
      await other.replica.refresh("writes").catch(() => {});
      await this.edit(name === "a" ? "b" : "a", other);
    }
    if (this.once(6)) this.program(name === "a" ? "b" : "a", other);
    if (when === "before" && this.once(5) && !this.isOver) {
      this.events.push("cut");
      machine.line.isCut = true;
    }
    if (when === "before" && this.once(5) && !this.isOver) {
      this.events.push("loses the answer");
      machine.line.losesNext = true;
    }
    this.#depth--;
  }
}

function passing(error: unknown): void {
  if (!Fault.is(error, "store_unavailable")) throw error;
}

it(`${rounds} rounds: no edit is lost or made twice`, { timeout: 3_600_000 }, async () => {
  for (let seed = first; seed < first + rounds; seed++) {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: start });
    const b = await fixture.machine("b");
    const machines = { a, b };
    const round = new Round(seed);
    for (const [name, machine] of Object.entries(machines)) {
      const other = name === "a" ? b : a;
      machine.line.isDeaf = seed % 2 === 0;
      machine.line.beforeAppend = () => round.meanwhile(name, machine, other, "before");
      machine.line.afterAppend = () => round.meanwhile(name, machine, other, "after");
      machine.line.afterEntries = () => round.meanwhile(name, machine, other, "pull");
    }
    const heal = () => {
      for (const { line } of [a, b]) Object.assign(line, { isCut: false, losesNext: false });
    };
    for (let step = 0; step < 6; step++) {
      const name = round.once(2) ? "a" : "b";
      if (round.once(3)) round.program(name, machines[name]);
      if (round.once(3))
        await Promise.all([round.edit(name, machines[name]), round.edit(name, machines[name])]);
      else await round.edit(name, machines[name]);
      heal();
      if (round.once(2)) await machines[name].replica.refresh("writes").catch(passing);
      if (round.once(4))
        await machines[name].replica.publishChanges({ action: "run", client: "" }).catch(passing);
      heal();
    }
    for (const { line } of [a, b])
      Object.assign(line, {
        beforeAppend: async () => {},
        afterAppend: async () => {},
        afterEntries: async () => {},
      });
    round.isOver = true;
    heal();
    for (let turn = 0; turn < 2; turn++)
      for (const { replica } of [a, b]) {
        await replica.publishChanges({ action: "run", client: "" });
        await replica.refresh("writes");
      }
    await a.replica.refresh("writes");
    const c = await fixture.machine("c");
    const lines = a.text("f").split("\n");
    const wrong = [...round.allowed].flatMap(([line, counts]) => {
      const count = lines.filter(one => one === line).length;
      return counts.includes(count) ? [] : [`${line} is there ${count} times`];
    });
    const told = () => `seed ${seed}\n${round.events.join("\n")}\n${a.text("f")}`;
    expect(wrong, told()).toEqual([]);
    expect(b.tree(), told()).toEqual(a.tree());
    expect(c.tree(), told()).toEqual(a.tree());
  }
});
