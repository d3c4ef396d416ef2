// Two machines in one process share a store through a line that fails at chosen moments. On each, tools change files,
// commands run beside each other, and a program writes. At every moment of a send or a pull something else may happen:
// a command writes, the other machine sends first, the answer is lost, the request arrives late, the line is cut.
//
// Every piece of work writes tokens of its own. In `f`, each author inserts below a line that only it uses, so nothing
// overlaps there but in the first line, which anyone replaces. The other files are anyone's.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { CallContext } from "../../src/contract/context.ts";
import { inReplica } from "../../src/contract/replicated-call.ts";
import type { Tool } from "../../src/contract/tool.ts";
import { Fault } from "../../src/engine/fault.ts";
import { Before, record } from "../../src/engine/history/footprint.ts";
import { undo } from "../../src/engine/history/undo.ts";
import { isRelated } from "../../src/engine/workspace/within.ts";
import type { Workspace } from "../../src/engine/workspace/workspace.ts";
import { Fixture, type Machine } from "../../test/replica/fixture.ts";
import type { Chance } from "../chance.ts";

export interface RoundDeed {
  /** Its client, and the first part of its tokens. */
  readonly name: string;
  readonly kind: "tool" | "command" | "program";
  readonly machine: string;
  readonly what: string;
  /** With the paths that they were written to. */
  readonly tokens: Map<string, string>;
  /** `late`: it is done here, and reaches the others when the store can be used again. */
  told: "done" | "refused" | "unknown" | "in the log" | "gave way" | "late" | "nothing yet";
  said: string;
  /** The id of its change, as it was answered. */
  id?: string | undefined;
  /** The revision of the log when a command was answered. */
  revision?: number | undefined;
  /** Commands that ran on the same machine at the same time. */
  readonly beside: Set<string>;
  /** The machine was started again before the store had it. */
  isRecovered: boolean;
  /** The change that it was to undo. */
  readonly undoes?: RoundDeed;
}

/** The answer of a command whose id is in no entry. */
export const onlyHere = "knows this change by its id";
/** The same of a command that waits for the store after another one. */
export const underFirst = "under the id of the first";

interface RoundCommand {
  readonly deed: RoundDeed;
  readonly slot: string;
  readonly end: () => void;
  hasBegun: boolean;
  hasEnded: boolean;
  readonly answered: Promise<void>;
}

const sections = ["a", "b"].flatMap(name => [
  `${name}-tool`,
  `${name}-command0`,
  `${name}-command1`,
  `${name}-program`,
]);
/** Lines that no author changes keep the sections apart. */
const start = `title\n1\n2\n3\n${sections.map(section => `${section}:\n1\n2\n3\n`).join("")}`;
const places = ["c0", "c1", "d/x", "d/y", "e/x", "d", "e"];
const files = places.filter(place => !/^[de]$/.test(place));
const runs = { name: "run_command", effect: "runs" } as unknown as Tool;

export class Round implements AsyncDisposable {
  readonly fixture = new Fixture();
  readonly deeds: RoundDeed[] = [];
  readonly events: string[] = [];
  /** Tokens that a program or a command has overwritten or removed on its own machine. */
  readonly destroyed = new Set<string>();
  /** Machines where anything may be gone that was not sent. */
  readonly reset = new Set<string>();
  /** The same for what is in `f` and was not answered: the log has won over it. */
  readonly overlapped = new Set<string>();
  /** Machines that were started again. What others did before is in their trees, and may not be in their history. */
  readonly restarted = new Set<string>();
  readonly isLocal: boolean;
  readonly #chance: Chance;
  readonly #overlaps: boolean;
  readonly #machines = new Map<string, Machine>();
  /** Of tools, on either machine. */
  readonly #calls = new Set<RoundDeed>();
  /** What tools are about to replace or remove: what is written there meanwhile may be gone. */
  readonly #replaced = new Set<{ readonly name: string; readonly place: string }>();
  #running: RoundCommand[] = [];
  #depth = 0;
  #isOver = false;
  #isRestarting = false;

  constructor(chance: Chance, overlaps: boolean) {
    this.#chance = chance;
    this.#overlaps = overlaps;
    this.isLocal = this.#once(6);
  }

  /** `overlaps`: authors also replace a line of `f` that they share, and the line may be cut when a server ends. */
  static async run(chance: Chance, overlaps: boolean): Promise<Round> {
    const round = new Round(chance, overlaps);
    await round.#start("a", { f: start, c0: "c0\n", "d/x": "x\n" });
    await round.#start("b");
    const steps = 8 + chance.below(16);
    for (let step = 0; step < steps; step++) await round.#step();
    await round.#finish();
    return round;
  }

  get machines(): ReadonlyMap<string, Machine> {
    return this.#machines;
  }

  #once(among: number): boolean {
    return this.#chance.below(among) === 0;
  }

  async #start(name: string, content: Record<string, string> = {}): Promise<void> {
    const warn = (text: string) => {
      this.events.push(`${name} warns: ${text}`);
      if (text.includes("whole copy")) this.reset.add(name);
      if (text.startsWith("f was changed here")) this.overlapped.add(name);
    };
    const isDeaf = this.#once(2);
    const durability = this.isLocal && name === "a" ? ("local" as const) : undefined;
    this.#isRestarting = true;
    const machine = await this.fixture.machine(
      name,
      content,
      { warn, ...(durability && { durability }) },
      line => {
        line.isDeaf = isDeaf;
        line.beforeAppend = () => this.#meanwhile(name, "before an append");
        line.afterAppend = () => this.#meanwhile(name, "after an append");
        line.afterEntries = () => this.#meanwhile(name, "in a pull");
      },
    );
    this.#machines.set(name, machine);
    rmSync(`${machine.root} before`, { recursive: true, force: true });
    cpSync(machine.root, `${machine.root} before`, { recursive: true });
    this.#isRestarting = false;
  }

  #machine(name: string): Machine {
    return this.#machines.get(name) as Machine;
  }

  async #step(): Promise<void> {
    const name = this.#chance.pick(["a", "b"]);
    const { line } = this.#machine(name);
    switch (this.#chance.below(12)) {
      case 0:
        if (this.#once(3)) line.refusesAs = "read_only";
        else line.isCut = true;
        this.events.push(`${name} is ${line.isCut ? "cut off" : "refused every change"}`);
        return;
      case 1:
        return this.#once(2) ? await this.#restart(name) : undefined;
      case 2:
      case 3:
      case 4:
        await Promise.all([this.#act(name), this.#act(this.#chance.pick(["a", "b"]))]);
        break;
      default:
        await this.#act(name);
    }
    if (this.#once(3)) this.#heal();
  }

  #heal(): void {
    for (const { line } of this.#machines.values())
      Object.assign(line, { isCut: false, refusesAs: undefined, losesNext: false, delaysNext: false });
  }

  async #act(name: string): Promise<void> {
    const running = this.#running.filter(({ deed }) => deed.machine === name);
    switch (this.#chance.below(10)) {
      case 0:
      case 1:
        if (running.length < 2) return await this.#begin(name);
        break;
      case 2:
      case 3:
        return await this.#inTurn(name, () => {
          for (const command of running) this.#commandWrites(command);
        });
      case 4: {
        const [command] = running;
        if (command === undefined) break;
        // Two end at the same time, or only one does.
        const ending = this.#once(2) ? running : [command];
        for (const one of ending) one.end();
        await Promise.all(ending.map(({ answered }) => answered));
        return;
      }
      case 5:
        return this.#program(name);
    }
    await this.#tool(name);
  }

  /** What happens at a moment of a send or a pull of `name`. */
  async #meanwhile(name: string, when: string): Promise<void> {
    if (this.#isOver || this.#isRestarting || this.#depth > 0 || this.#once(2)) return;
    this.#depth++;
    this.events.push(`-- ${when} of ${name}`);
    const { line } = this.#machine(name);
    const other = name === "a" ? "b" : "a";
    if (this.#once(4)) this.#program(name);
    for (const command of this.#running)
      if (command.deed.machine === name && this.#once(2)) this.#commandWrites(command);
    if (this.#once(3)) await this.#tool(other);
    if (this.#once(5)) for (const command of this.#running) if (this.#once(2)) command.end();
    if (when.startsWith("before") && this.#once(3)) {
      const how = this.#chance.pick(["isCut", "losesNext", "losesNext", "delaysNext", "delaysNext"] as const);
      line[how] = true;
      this.events.push(`${name}: ${how}`);
    }
    this.#depth--;
  }

  #deed(kind: RoundDeed["kind"], machine: string, what: string, undoes?: RoundDeed): RoundDeed {
    const deed: RoundDeed = {
      ...{ name: `${kind.slice(0, 1)}${this.deeds.length}`, kind, machine, what },
      ...{ tokens: new Map(), told: "nothing yet", said: "", beside: new Set(), isRecovered: false },
      ...(undoes && { undoes }),
    };
    this.deeds.push(deed);
    return deed;
  }

  #token(deed: RoundDeed, path: string): string {
    const token = `<${deed.name}.${deed.tokens.size}>`;
    deed.tokens.set(token, path);
    return token;
  }

  async #tool(name: string): Promise<void> {
    const { chance } = { chance: this.#chance };
    const there = places.filter(place => existsSync(join(this.#machine(name).root, place)));
    const known = this.deeds.filter(({ id, kind }) => id !== undefined && kind !== "program");
    const how = chance.pick([
      "edit",
      "edit",
      "write",
      "move",
      "move",
      "copy",
      "remove",
      "undo",
      "undo",
    ] as const);
    // With local durability, an undo elsewhere may overlap with what is answered and not sent yet.
    if (how === "undo" && known.length > 0 && !this.isLocal) {
      const undoes = chance.pick(known);
      const deed = this.#deed("tool", name, `undo ${undoes.name}`, undoes);
      const replaced = places.map(place => ({ name, place }));
      for (const one of replaced) this.#replaced.add(one);
      await this.#answer(deed, async workspace => {
        const { commit } = await undo(workspace, { change: undoes.id as string, client: deed.name });
        return commit;
      });
      for (const one of replaced) this.#replaced.delete(one);
      return;
    }
    if (how === "edit" || how === "undo" || there.length === 0) {
      const deed = this.#deed("tool", name, "edit f");
      const into = this.#inserting(deed, `${name}-tool`);
      return await this.#answer(deed, workspace =>
        workspace.edit(workspace.at("f"), bytes => Buffer.from(into(String(bytes)))),
      );
    }
    const from = chance.pick(there);
    const to = chance.pick(files.filter(file => file !== from && !file.startsWith(`${from}/`)));
    const deed = this.#deed("tool", name, how === "write" ? `write ${to}` : `${how} ${from} ${to}`);
    const token = how === "write" ? this.#token(deed, to) : "";
    const { root } = this.#machine(name);
    const replaced = { name, place: how === "remove" ? from : to };
    this.#replaced.add(replaced);
    await this.#answer(deed, async workspace => {
      const [source, target] = [workspace.at(from), workspace.at(to)];
      const bytes = Buffer.from(`${token}\n`);
      if (how === "write")
        return await workspace.commit([{ kind: how, path: target, bytes }], { parents: true });
      this.#destroy(root, replaced.place);
      if (how === "remove") return await workspace.commit([{ kind: how, path: source, recursive: true }]);
      return await workspace.commit([{ kind: how, from: source, to: target, overwrite: true }], {
        parents: true,
      });
    });
    this.#replaced.delete(replaced);
  }

  async #answer(
    deed: RoundDeed,
    action: (workspace: Workspace) => Promise<{ readonly id: string } | undefined>,
  ): Promise<void> {
    const { replica, workspace } = this.#machine(deed.machine);
    this.#calls.add(deed);
    this.events.push(`${deed.name} on ${deed.machine}: ${deed.what}`);
    const by = { action: deed.what, client: deed.name, connection: deed.name };
    try {
      await replica.refresh("writes");
      const made = await action(workspace.as(by));
      deed.told = "done";
      deed.id = made?.id;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const isUnknown = Fault.is(error, "store_unavailable") && error.data.change === "unknown";
      deed.told = isUnknown ? "unknown" : error.code === "not_applied" ? "in the log" : "refused";
      deed.said = error.code;
    }
    this.#calls.delete(deed);
    this.events.push(`${deed.name}: ${deed.told} ${deed.said} ${deed.id ?? ""}`);
  }

  async #begin(name: string): Promise<void> {
    const machine = this.#machine(name);
    const deed = this.#deed("command", name, "run");
    const beside = this.#running.filter(one => one.deed.machine === name);
    for (const { deed: other } of beside) {
      other.beside.add(deed.name);
      deed.beside.add(other.name);
    }
    const free = [0, 1].map(n => `${name}-command${n}`).find(slot => beside.every(one => one.slot !== slot));
    let end = () => {};
    const ended = new Promise<void>(resolve => {
      end = resolve;
    });
    const session = { client: deed.name, connection: deed.name };
    const workspace = machine.workspace.as({ action: "run_command", ...session });
    const context = { workspace, session } as unknown as CallContext;
    this.events.push(`${deed.name} on ${name}: begins`);
    let hasBegun = () => {};
    const begun = new Promise<void>(resolve => {
      hasBegun = resolve;
    });
    const answered = inReplica(runs, {}, context, async () => {
      using before = await Before.look(workspace);
      command.hasBegun = true;
      hasBegun();
      await ended;
      command.hasEnded = true;
      const footprint = await before.compare();
      const made = await record(workspace, footprint, { action: "run_command", ...session });
      return { content: [{ type: "text", text: made?.record.id ?? "" }] };
    })
      .then(
        outcome => {
          const { content = [], isError } = outcome as { content?: { text?: string }[]; isError?: boolean };
          const [id = "", ...said] = content.map(({ text = "" }) => text);
          deed.id = id === "" ? undefined : id;
          deed.said = said.join(" ");
          const isLate = deed.said.includes("reach the others when");
          deed.told = !isError ? "done" : isLate ? "late" : "gave way";
        },
        (error: unknown) => {
          if (!(error instanceof Fault)) throw error;
          deed.told = "refused";
          deed.said = error.code;
        },
      )
      .finally(async () => {
        deed.revision = (await this.fixture.store.find("w"))?.revision;
        command.hasEnded = true;
        hasBegun();
        this.#running = this.#running.filter(one => one !== command);
        this.events.push(`${deed.name}: ${deed.told} ${deed.said} ${deed.id ?? ""}`);
      });
    const command: RoundCommand = { deed, slot: free ?? "", end, hasBegun: false, hasEnded: false, answered };
    this.#running.push(command);
    await begun;
  }

  /**
   * Between the changes of others, not within one: what a program makes at a path in the moment in which a change of
   * others takes it is lost, as it is without replicas.
   */
  async #inTurn(name: string, action: () => void): Promise<void> {
    await this.#machine(name)
      .replica.write(async () => action())
      .catch(error => {
        if (!Fault.is(error, "store_unavailable")) throw error;
      });
  }

  /** One step of a command: what a shell would do. */
  #commandWrites({ deed, slot, hasBegun, hasEnded }: RoundCommand): void {
    if (!hasBegun || hasEnded) return;
    const { root } = this.#machine(deed.machine);
    const at = this.#chance.pick(files);
    const path = join(root, at);
    switch (this.#chance.below(6)) {
      case 0:
      case 1:
        this.#insert(deed, slot);
        return;
      case 2:
      case 3: {
        if (existsSync(path) && statSync(path).isDirectory()) return;
        if (existsSync(dirname(path)) && !statSync(dirname(path)).isDirectory()) return;
        this.#destroy(root, at);
        mkdirSync(dirname(path), { recursive: true });
        this.events.push(`${deed.name} writes ${at}`);
        writeFileSync(path, `${this.#token(deed, at)}\n`);
        for (const { name, place } of this.#replaced)
          if (name === deed.machine && isRelated(at, place)) this.#destroy(root, at);
        return;
      }
      case 4: {
        const place = this.#chance.pick(places);
        this.#destroy(root, place);
        this.events.push(`${deed.name} removes ${place}`);
        rmSync(join(root, place), { recursive: true, force: true });
        return;
      }
      case 5: {
        const from = join(root, this.#chance.pick(files));
        if (!existsSync(from) || existsSync(path) || !existsSync(dirname(path))) return;
        this.events.push(`${deed.name} moves or copies a file to ${at}`);
        if (this.#once(2)) renameSync(from, path);
        else cpSync(from, path, { recursive: true });
      }
    }
  }

  /** A program that no server knows, or a child that a command has left behind. */
  #program(name: string): void {
    const deed = this.#deed("program", name, "write f");
    this.#insert(deed, `${name}-program`);
    deed.told = "done";
  }

  #insert(deed: RoundDeed, section: string): void {
    const file = join(this.#machine(deed.machine).root, "f");
    this.events.push(`${deed.name} inserts into f`);
    const text = this.#inserting(deed, section)(readFileSync(file, "utf8"));
    const isReplaced = this.#once(2);
    writeFileSync(isReplaced ? `${file}.new` : file, text);
    if (isReplaced) renameSync(`${file}.new`, file);
  }

  #inserting(deed: RoundDeed, section: string): (text: string) => string {
    const token = this.#token(deed, "f");
    const isTitled = this.#overlaps && this.#once(6);
    return text => {
      const titled = isTitled ? text.replace(/^title.*/, `title by ${deed.name}`) : text;
      return titled.replace(`${section}:\n`, `${section}:\n${token}\n`);
    };
  }

  #destroy(root: string, place: string): void {
    for (const token of tokensBelow(join(root, place))) this.destroyed.add(token);
  }

  /** As an operator does it: the server ends by itself. */
  async #restart(name: string): Promise<void> {
    const machine = this.#machine(name);
    const commands = this.#running.filter(({ deed }) => deed.machine === name);
    for (const { end } of commands) end();
    await Promise.all(commands.map(({ answered }) => answered));
    // A server answers its calls before it ends.
    if ([...this.#calls].some(({ machine: at }) => at === name)) return;
    this.events.push(`${name} ends`);
    this.#isRestarting = true;
    this.restarted.add(name);
    for (const deed of this.deeds) if (deed.machine === name) deed.isRecovered = true;
    machine.line.isCut ||= this.#overlaps && this.#once(2);
    await machine.replica[Symbol.asyncDispose]();
    if (this.#once(3)) this.#putBack(name);
    await this.#start(name);
    this.events.push(`${name} has started`);
  }

  /** Replaces the directory by what it was at the last start. What was not sent yet is gone. */
  #putBack(name: string): void {
    const { root } = this.#machine(name);
    this.events.push(`the directory of ${name} is restored`);
    this.reset.add(name);
    this.#destroy(root, "");
    rmSync(root, { recursive: true });
    cpSync(`${root} before`, root, { recursive: true });
  }

  async #finish(): Promise<void> {
    for (const { end } of this.#running) end();
    await Promise.all(this.#running.map(({ answered }) => answered));
    this.#isOver = true;
    this.#heal();
    for (let turn = 0; turn < 2; turn++)
      for (const { replica } of this.#machines.values()) {
        await untilReached(() => replica.refresh("writes"));
        await replica.sent();
        await replica.publishChanges({ action: "run", client: "" });
        await replica.refresh("writes");
      }
    for (const { replica } of this.#machines.values()) await replica.refresh("writes");
    this.#machines.set("c", await this.fixture.machine("c"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.fixture[Symbol.asyncDispose]();
  }
}

/** With local durability, a replica that has lost the store waits for its own next question. */
async function untilReached(action: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await action();
    } catch (error) {
      if (attempt > 100) throw error;
      await pause(50);
    }
  }
}

export function tokensIn(text: string): string[] {
  return text.match(/<[tcp]\d+\.\d+>/g) ?? [];
}

function tokensBelow(path: string): string[] {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return tokensIn(readFileSync(path, "utf8"));
  return readdirSync(path).flatMap(name => tokensBelow(join(path, name)));
}
