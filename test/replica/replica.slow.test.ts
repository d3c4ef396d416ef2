import { chmodSync, rmSync, symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Before, record } from "../../src/engine/history/footprint.ts";
import { undo } from "../../src/engine/history/undo.ts";
import { defaultRules } from "../../src/engine/policy/default-rules.ts";
import { Policy } from "../../src/engine/policy/policy.ts";
import type { Change } from "../../src/engine/workspace/commit/change.ts";
import { Fixture, type Line, type Machine } from "./fixture.ts";

describe("replicas of a workspace", () => {
  it("the first one publishes its files, the next one gets them, and each receives the other's writes", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { "one.txt": "1\n", "deep/er/two.txt": "2\n" });
    const b = await fixture.machine("b");
    expect(b.tree()).toEqual(a.tree());
    await b.write("three.txt", "3\n");
    await a.replica.refresh("reads");
    await a.edit("one.txt", text => `${text}more\n`);
    await b.replica.refresh("reads");
    expect(b.text("one.txt")).toBe("1\nmore\n");
    expect(b.tree()).toEqual(a.tree());
  });

  it("changes made while a machine reads the log, for the first time or again, are applied once", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "0\n" });
    let n = 0;
    const more = () => a.edit("f", text => `${text}${++n}\n`);
    const busy = (line: Line) => {
      let left = 6;
      line.afterEntries = async () => {
        if (left-- <= 0) return;
        await more();
        await setTimeout(20);
      };
    };
    for (let i = 0; i < 5; i++) await more();
    const warnings: string[] = [];
    const options = { warn: (text: string) => void warnings.push(text) };
    const b = await fixture.machine("b", {}, options, busy);
    await b.replica[Symbol.asyncDispose]();
    for (let i = 0; i < 5; i++) await more();
    const again = await fixture.machine("b", {}, options, busy);
    again.line.afterEntries = async () => {};
    await again.replica.refresh("reads");
    expect(again.tree()).toEqual(a.tree());
    expect(again.replica.revision).toBe(a.replica.revision);
    expect(warnings).toEqual([]);
  });

  it("concurrent edits of one file on two machines are both kept", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "a0\nb0\n" });
    const b = await fixture.machine("b");
    const add = (machine: Machine, who: string) => async (n: number) =>
      await machine.edit("f", text => text.replace(`${who}0\n`, `${who}0\n${who}${n}\n`));
    const [byA, byB] = [add(a, "a"), add(b, "b")];
    for (let n = 1; n <= 8; n++) await Promise.all([byA(n), byB(n)]);
    for (const machine of [a, b]) await machine.replica.refresh("reads");
    const expected = ["a0", ...down("a"), "b0", ...down("b"), ""].join("\n");
    expect(a.text("f")).toBe(expected);
    expect(b.text("f")).toBe(expected);
  });

  it("moves, copies, removals, links and modes are replicated exactly", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { "d/x": "x\n", "d/e/y": "y\n", z: "z\n" });
    const b = await fixture.machine("b");
    const at = (path: string) => a.workspace.at(path);
    const steps: Change[][] = [
      [{ kind: "move", from: at("d"), to: at("moved") }],
      [{ kind: "copy", from: at("moved"), to: at("copied") }],
      [{ kind: "remove", path: at("moved/e"), recursive: true }],
      [
        { kind: "mkdir", path: at("new"), mode: 0o750 },
        { kind: "write", path: at("new/f"), bytes: Buffer.from("f"), mode: 0o755 },
      ],
      [{ kind: "symlink", path: at("link"), target: "z" }],
      [{ kind: "move", from: at("z"), to: at("new/z"), bytes: Buffer.from("changed") }],
      [{ kind: "mode", path: at("copied"), mode: 0o700 }],
      [
        { kind: "remove", path: at("link") },
        { kind: "write", path: at("link"), bytes: Buffer.from("a file now") },
      ],
    ];
    for (const changes of steps) {
      await a.workspace.commit(changes);
      await b.replica.refresh("reads");
      expect(b.tree()).toEqual(a.tree());
    }
    const c = await fixture.machine("c");
    expect(c.tree()).toEqual(a.tree());
  });

  it("random changes on three machines converge, with every acknowledged line", async () => {
    await fc.assert(
      fc.asyncProperty(program, async steps => {
        await using fixture = new Fixture();
        const first = await fixture.machine("a", { f0: "", f1: "", "d/f2": "" });
        const machines = [first, await fixture.machine("b"), await fixture.machine("c")];
        const answered = new Map<string, string>();
        await Promise.all(
          machines.map(async (machine, i) => {
            for (const [n, step] of steps.filter(({ on }) => on === i).entries())
              await take(machine, step, `${i}:${n}`, answered);
          }),
        );
        for (const machine of machines) await machine.replica.refresh("reads");
        expect(machines[1]?.tree()).toEqual(first.tree());
        expect(machines[2]?.tree()).toEqual(first.tree());
        const late = await fixture.machine("late");
        expect(late.tree()).toEqual(first.tree());
        for (const line of answered.keys()) expect(first.text("lines")).toContain(`${line}\n`);
      }),
      { numRuns: 4 },
    );
  });

  it("a change can be undone on another machine than it was made on", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "1\n2\n3\n" });
    const b = await fixture.machine("b");
    const { id } = await a.edit("f", text => text.replace("2", "two"));
    await b.replica.refresh("reads");
    await b.edit("f", text => `${text}4\n`);
    await undo(b.workspace, { change: id });
    await a.replica.refresh("reads");
    expect(a.text("f")).toBe("1\n2\n3\n4\n");
  });

  it("a change that exceeds the store's limit is refused, and the store does not count as unreachable", async () => {
    await using fixture = new Fixture();
    const warnings: string[] = [];
    const warn = (text: string) => void warnings.push(text);
    const a = await fixture.machine("a", { f: "1\n" }, { maxBytes: 3000, warn });
    const full = { code: "history_full", data: { limit: 3000 } };
    await expect(a.write("big", "x".repeat(4000))).rejects.toMatchObject(full);
    expect(Object.keys(a.tree())).toEqual(["f"]);
    a.put("big", "x".repeat(4000));
    await expect(a.replica.publishChanges({ action: "run", client: "" })).rejects.toMatchObject(full);
    await a.replica.refresh("reads");
    expect(a.replica.staleMs).toBeUndefined();
    await a.write("f", "2\n");
    const b = await fixture.machine("b");
    expect(Object.entries(b.tree())).toEqual([["f", expect.stringContaining("2\n")]]);
    // Once it is small enough, the next command publishes it.
    a.put("big", "small");
    await a.replica.publishChanges({ action: "run", client: "" });
    await b.replica.refresh("reads");
    expect(b.text("big")).toBe("small");
    expect(warnings).toEqual([]);
  });

  it("the changes of a command count against the limit of its caller", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "1\n" });
    const b = await fixture.machine("b");
    const limited = a.workspace.limitedTo(3000);
    using before = await Before.look(limited);
    a.put("big", "x".repeat(4000));
    await record(limited, await before.compare(), { action: "run_command", client: "test" });
    await expect(
      a.replica.publishChanges({ action: "run_command", client: "test" }, limited.maxBytes),
    ).rejects.toMatchObject({ code: "history_full", data: { limit: 3000 } });
    await b.replica.refresh("reads");
    expect(Object.keys(b.tree())).toEqual(["f"]);
  });

  it("a merge that would show a masked value is an overlap", async () => {
    await using fixture = new Fixture();
    const policy = new Policy(defaultRules);
    const json = (above: string, value: string, below: string) => `{\n${above}\n\n\n${value}\n\n\n${below}\n`;
    const files = { "secrets.json": json('"k":', '"dummy"', "}") };
    const a = await fixture.machine("a", files, { policy });
    const b = await fixture.machine("b", {}, { policy });
    // A person sets the value on one machine, while an agent on the other makes a key of what it sees there.
    a.put("secrets.json", json('"k":', '"CANARY"', "}"));
    await b.write("secrets.json", json('"k": 1,', '"dummy"', ": 2}"));
    await a.replica.publishChanges({ action: "run", client: "" });
    for (const machine of [a, b]) {
      await machine.replica.refresh("reads");
      expect(machine.text("secrets.json")).not.toContain("CANARY");
    }
    expect(b.tree()).toEqual(a.tree());
  });

  it("a command's changes are published, and merged with concurrent changes of others", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "1\n2\n3\n4\n5\n", gone: "gone\n", "s.sh": "true\n" });
    const b = await fixture.machine("b");
    a.put("f", "1\n2\n3\n4\nfive\n");
    a.put("out/new.txt", "new\n");
    a.put("node_modules/x/index.js", "stays here\n");
    chmodSync(join(a.root, "s.sh"), 0o755);
    unlinkSync(join(a.root, "gone"));
    symlinkSync("f", join(a.root, "link"));
    await b.edit("f", text => text.replace("1", "one"));
    const id = await a.replica.publishChanges({ action: "run", client: "" });
    expect(a.text("f")).toBe("one\n2\n3\n4\nfive\n");
    await b.replica.refresh("reads");
    rmSync(join(a.root, "node_modules"), { recursive: true });
    expect(b.tree()).toEqual(a.tree());
    expect(await a.replica.publishChanges({ action: "run", client: "" })).toBeUndefined();
    await undo(b.workspace, { change: id ?? "" });
    await a.replica.refresh("reads");
    expect(a.text("f")).toBe("one\n2\n3\n4\n5\n");
    expect(a.text("gone")).toBe("gone\n");
  });
});

describe("when the store cannot be reached", () => {
  it("writes are refused with nothing changed, reads go on and say how old they are, and it recovers by itself", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "1\n" });
    const b = await fixture.machine("b");
    a.line.isCut = true;
    const before = a.tree();
    await expect(a.write("f", "2\n")).rejects.toMatchObject({ code: "store_unavailable" });
    await expect(a.write("g", "2\n")).rejects.toMatchObject({ code: "store_unavailable" });
    await a.workspace.settled();
    expect(a.tree()).toEqual(before);
    await b.write("f", "by b\n");
    await a.replica.refresh("reads");
    expect(a.replica.staleMs).toBeGreaterThanOrEqual(0);
    expect(a.text("f")).toBe("1\n");
    await expect(a.replica.refresh("writes")).rejects.toMatchObject({ code: "store_unavailable" });
    a.line.isCut = false;
    await until(() => a.replica.staleMs === undefined);
    expect(a.text("f")).toBe("by b\n");
    await a.write("g", "now\n");
    await b.replica.refresh("reads");
    expect(b.tree()).toEqual(a.tree());
  });

  it("a write whose answer was lost is reported as one that may have been made, and is everywhere or nowhere", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "" });
    const b = await fixture.machine("b");
    a.line.losesNext = true;
    await expect(a.edit("f", text => `${text}lost answer\n`)).rejects.toMatchObject({
      code: "store_unavailable",
      data: { change: "unknown" },
    });
    await a.edit("f", text => `${text}next\n`);
    await b.replica.refresh("reads");
    expect(a.text("f")).toBe("lost answer\nnext\n");
    expect(b.tree()).toEqual(a.tree());
  });

  it("changes that a command makes are published when the store is back", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "" });
    const b = await fixture.machine("b");
    a.put("f", "made by a command\n");
    a.line.isCut = true;
    const publishing = a.replica.publishChanges({ action: "run", client: "" });
    await expect(publishing).rejects.toMatchObject({ code: "store_unavailable" });
    a.line.isCut = false;
    await until(async () => {
      await b.replica.refresh("reads");
      return b.text("f") !== "";
    });
    expect(b.text("f")).toBe("made by a command\n");
  });
});

describe("a directory that becomes a replica", () => {
  it("is refused if it holds other files, and repaired if it is an old copy", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "1\n", g: "2\n" });
    await expect(fixture.machine("b", { mine: "precious\n" })).rejects.toMatchObject({ code: "not_empty" });
    const c = await fixture.machine("c");
    await c.replica[Symbol.asyncDispose]();
    await a.write("f", "newer\n");
    await a.workspace.commit([{ kind: "remove", path: a.workspace.at("g") }]);
    c.put("half", "what a killed command left\n");
    const again = await fixture.machine("c");
    expect(again.tree()).toEqual(a.tree());
  });

  it("two replicas that start at the same moment agree on which one publishes", async () => {
    await using fixture = new Fixture();
    const started = await Promise.allSettled([
      fixture.machine("a", { f: "same\n" }),
      fixture.machine("b", { f: "same\n" }),
      fixture.machine("c"),
    ]);
    // Those that hold files and came too late are refused; nothing of theirs is touched.
    const served = started.flatMap(one => (one.status === "fulfilled" ? [one.value] : []));
    expect(served.length).toBeGreaterThan(0);
    for (const machine of served) await machine.replica.refresh("reads");
    expect(new Set(served.map(machine => JSON.stringify(machine.tree()))).size).toBe(1);
  });
});

function down(who: string): string[] {
  return Array.from({ length: 8 }, (_, i) => `${who}${8 - i}`);
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await setTimeout(20);
}

interface Step {
  readonly on: number;
  readonly do: "line" | "write" | "move" | "remove" | "command";
  readonly file: string;
  readonly to: string;
}

const file = fc.constantFrom("f0", "f1", "d/f2", "new", "d/n");
const program: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    on: fc.nat(2),
    do: fc.constantFrom("line", "line", "line", "write", "move", "remove", "command"),
    file,
    to: file,
  }),
  { minLength: 10, maxLength: 30 },
);

/** Does a step; refusals are fine, as others may have moved the file. Lines that were answered are noted. */
async function take(
  machine: Machine,
  step: Step,
  name: string,
  answered: Map<string, string>,
): Promise<void> {
  const { workspace, replica } = machine;
  try {
    await replica.refresh("reads");
    switch (step.do) {
      case "line":
        await workspace.editAll([workspace.at("lines")], ([current]) => [
          {
            kind: "write",
            path: workspace.at("lines"),
            bytes: Buffer.from(`${current?.bytes ?? ""}${name}\n`),
          },
        ]);
        answered.set(name, "lines");
        break;
      case "write":
        await machine.write(step.file, `${name}\n`);
        break;
      case "move":
        await workspace.commit([
          { kind: "move", from: workspace.at(step.file), to: workspace.at(step.to), overwrite: true },
        ]);
        break;
      case "remove":
        await workspace.commit([{ kind: "remove", path: workspace.at(step.file) }]);
        break;
      case "command":
        machine.put(`by-command/${name}`, name);
        await replica.publishChanges({ action: "run", client: "" });
        break;
    }
  } catch (error) {
    expect(error).toMatchObject({ name: "Fault" });
  }
}
