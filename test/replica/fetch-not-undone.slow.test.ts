// What a replica fetches is recorded, so that what it replaced can be restored. It belongs to no caller: undoing "the
// last change" on a new replica would remove every file on all of them.
import { unlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { nextRedo, standing } from "../../src/engine/history/standing.ts";
import { undo } from "../../src/engine/history/undo.ts";
import { Fixture, type Machine } from "./fixture.ts";

async function standingOn({ workspace }: Machine): Promise<string[]> {
  const ids: string[] = [];
  for await (const { record } of standing(workspace)) ids.push(record.id);
  return ids;
}

describe("what a replica has fetched", () => {
  it("is not the last change, neither on a new replica nor on one that was repaired", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "1\n", g: "2\n" });
    const b = await fixture.machine("b");
    expect(await standingOn(b)).toEqual([]);
    const { id } = await a.edit("f", text => `${text}more\n`);
    await b.replica.refresh("reads");
    expect(await standingOn(b)).toEqual([id]);
    await b.replica[Symbol.asyncDispose]();
    unlinkSync(join(b.root, "g"));
    const again = await fixture.machine("b");
    expect(again.text("g")).toBe("2\n");
    expect(await standingOn(again)).toEqual([id]);
  });

  it("does not keep an undo from being redone", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "1\n", g: "2\n" });
    const { id } = await a.edit("f", text => `${text}more\n`);
    await undo(a.workspace, { change: id });
    await a.replica[Symbol.asyncDispose]();
    unlinkSync(join(a.root, "g"));
    const again = await fixture.machine("a");
    expect((await nextRedo(again.workspace))?.undoes).toBe(id);
  });
});
