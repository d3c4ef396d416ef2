// A replica whose disk fails, or that runs out of descriptors, in any call of what it does: what it cannot look at is
// neither removed, nor unchanged, nor in the way of others, and nothing that was answered is lost.
import "./failing-files.ts"; // first

import { renameSync, rmSync, symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { listChanges } from "../../src/engine/history/changes.ts";
import { undoMany } from "../../src/engine/history/undo-many.ts";
import { type FailingCall, failingCalls, withFailing } from "./failing-files.ts";
import { Fixture, type Line, type Machine } from "./fixture.ts";

const deaf = (line: Line) => {
  line.isDeaf = true;
};
const by = { action: "run_command", client: "test" };

/** Fails each call of an action in turn, until there are no more. How often that was. */
async function trying(
  round: (call: FailingCall, n: number) => Promise<{ readonly failed: boolean }>,
  step = 13,
): Promise<number> {
  let n = 0;
  for (const call of failingCalls(step)) if (!(await round(call, ++n)).failed) return n;
  return n;
}

async function agree(...machines: readonly Machine[]): Promise<void> {
  for (const { replica } of machines) await replica.refresh("writes"); // a read does not wait for a lost store
  const [first, ...others] = machines.map(shown);
  for (const other of others) expect(other).toEqual(first);
}

/** Without what a commit could not remove at once. */
function shown(machine: Machine): Record<string, string> {
  return Object.fromEntries(Object.entries(machine.tree()).filter(([name]) => !name.startsWith(".polyfs-")));
}

describe("a replica whose disk does not answer", () => {
  it("publishes a command's changes, or nothing", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { "d/f": "0\n", keep: "kept\n", g0: "", l: "" }, {}, deaf);
    const b = await fixture.machine("b", {}, {}, deaf);
    const rounds = await trying(async (call, n) => {
      await agree(a, b);
      const before = shown(b);
      a.put("d/f", `${n}\n`);
      a.put(`g${n}`, "new\n");
      unlinkSync(join(a.root, `g${n - 1}`));
      rmSync(join(a.root, "l"));
      symlinkSync(`target-${n}`, join(a.root, "l"));
      const made = shown(a);
      const tried = await withFailing(call, () => a.replica.publishChanges(by));
      await b.replica.refresh("writes");
      const published = tried.error === undefined ? [made] : [before, made];
      expect(published).toContainEqual(shown(b));
      await a.replica.publishChanges(by);
      expect(shown(a)).toEqual(made);
      return tried;
    });
    await agree(a, b);
    expect(rounds).toBeGreaterThan(8);
  });

  it("merges a command's changes with those of others, or tries again", async () => {
    await using fixture = new Fixture();
    const warnings: string[] = [];
    const warn = (text: string) => void warnings.push(text);
    const a = await fixture.machine("a", { f: "top\nmiddle\nbottom\n" }, { warn }, deaf);
    const b = await fixture.machine("b", {}, {}, deaf);
    const rounds = await trying(async (call, n) => {
      await b.edit("f", text => text.replace(/^top.*/, `top ${n}`));
      a.put("f", a.text("f").replace(/bottom.*/, `bottom ${n}`));
      const tried = await withFailing(call, () => a.replica.refresh("reads"));
      await a.replica.refresh("writes");
      await a.replica.publishChanges(by);
      await agree(a, b);
      expect(a.text("f")).toBe(`top ${n}\nmiddle\nbottom ${n}\n`);
      return tried;
    }, 3);
    expect(warnings.filter(one => one.includes("same place"))).toEqual([]);
    expect(rounds).toBeGreaterThan(8);
  });

  it("does not publish the differences of a copy that it has not repaired yet", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { "d/f": "f\n", g: "g\n" }, {}, deaf);
    const b = await fixture.machine("b", {}, {}, deaf);
    const rounds = await trying(async (call, n) => {
      const [from, to] = n % 2 === 1 ? ["d", "e"] : ["e", "d"];
      await b.workspace.commit([
        { kind: "move", from: b.workspace.at(from), to: b.workspace.at(to) },
        { kind: "write", path: b.workspace.at("g"), bytes: Buffer.from(`${n}\n`) },
      ]);
      // Not by a command: the log decides.
      renameSync(join(a.root, from), join(a.root, "moved"));
      const tried = await withFailing(call, () => a.replica.refresh("reads"));
      await agree(a, b);
      expect(Object.keys(shown(b))).toEqual(n % 2 === 1 ? ["e", "e/f", "g"] : ["d", "d/f", "g"]);
      expect(b.text("g")).toBe(`${n}\n`);
      return tried;
    });
    expect(rounds).toBeGreaterThan(8);
  });

  it("fetches the rest of its files when the disk answers again", async () => {
    const files = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`d${i % 3}/f${i}`, `${i}\n`]));
    await using fixture = new Fixture();
    const a = await fixture.machine("a", files);
    const rounds = await trying(async (call, n) => {
      let b: Machine | undefined;
      const tried = await withFailing(call, async () => {
        b = await fixture.machine(`b${n}`, {}, { waitForFiles: 2 });
        await b.replica.refresh("reads", [["d2/f11"]]);
      });
      b ??= await fixture.machine(`b${n}`, {}, { waitForFiles: 2 });
      await until(() => b?.replica.refresh("writes"));
      await agree(a, b);
      return tried;
    }, 211);
    expect(rounds).toBeGreaterThan(2);
  });
});

async function until(action: () => Promise<void> | undefined): Promise<void> {
  for (;;) {
    try {
      return await action();
    } catch {
      await new Promise(resolve => setTimeout(resolve, 50));
    }
  }
}

it.each(["unreachable", "full"] as const)(
  "an undo of several changes that a store stops halfway (%s) does not say that nothing was changed",
  async reason => {
    await using fixture = new Fixture();
    const here = await fixture.machine("here", { f: "0\n" });
    for (const name of ["a", "b", "c"]) await here.write(name, "1\n");
    const records = await listChanges(here.workspace, { limit: 3 });
    here.line.cutAs = reason;
    here.line.afterAppend = async () => {
      here.line.isCut = true;
    };
    const [newest] = records;
    const fault = {
      code: "partly_undone",
      data: { changes: [newest?.id], reason: { code: "store_unavailable" } },
    };
    await expect(undoMany(here.workspace, records, {})).rejects.toMatchObject(fault);
    expect(Object.keys(here.tree())).toEqual(["a", "b", "f"]);
  },
);
