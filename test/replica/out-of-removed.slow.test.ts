// A commit takes what it copies from the tree as it was before the commit, so it can copy out of a directory that it
// removes. The log says the same: a machine that starts again resets its directory to what the log says.
import { describe, expect, it } from "vitest";
import { undo } from "../../src/engine/history/undo.ts";
import { Fixture, type Machine } from "./fixture.ts";

/** The files of a machine after its next start. */
async function restarted(fixture: Fixture, name: string, { replica }: Machine) {
  await replica[Symbol.asyncDispose]();
  return (await fixture.machine(name)).tree();
}

describe("what comes out of a directory that the same change removes", () => {
  it("is in the log when a move into new directories was undone", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "precious\n", "d/x": "x\n" });
    const b = await fixture.machine("b");
    const before = a.tree();
    for (const [from, to] of [
      ["f", "new/f"],
      ["d", "new/er/d"],
    ] as const) {
      const move = { kind: "move", from: a.workspace.at(from), to: a.workspace.at(to) } as const;
      const { id } = await a.workspace.commit([move], { parents: true });
      await b.replica.refresh("reads");
      await undo(b.workspace, { change: id });
      await a.replica.refresh("reads");
    }
    expect(a.tree()).toEqual(before);
    expect(b.tree()).toEqual(before);
    expect(await restarted(fixture, "a", a)).toEqual(before);
    expect(await restarted(fixture, "b", b)).toEqual(before);
  });
});
