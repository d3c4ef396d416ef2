// A store that answers questions and takes no changes: a standby, lost rights, a full disk.
import { expect, it, vi } from "vitest";
import type { CallContext } from "../../src/contract/context.ts";
import { inReplica } from "../../src/contract/replicated-call.ts";
import type { Tool } from "../../src/contract/tool.ts";
import { Fixture } from "./fixture.ts";

const patience = { timeout: 60_000, interval: 50 };
const reasons = ["read_only", "rights", "full"] as const;

it.each(reasons)("a refused change does not make the copy old: %s", async reason => {
  await using fixture = new Fixture();
  const warned: string[] = [];
  const a = await fixture.machine("a", { "f.txt": "one\n" }, { warn: line => warned.push(line) });
  const b = await fixture.machine("b");
  a.line.refusesAs = reason;
  for (const text of ["1", "2", "3"]) {
    await expect(a.write("g.txt", text)).rejects.toMatchObject({ data: { reason } });
    await b.write("f.txt", `${text}\n`);
    await a.replica.refresh("reads");
    expect([a.text("f.txt"), a.replica.staleMs]).toEqual([`${text}\n`, undefined]);
  }
  expect(warned).toEqual([expect.stringContaining("takes no changes")]);
  a.line.refusesAs = undefined;
  await a.write("g.txt", "taken\n");
  expect(warned).toEqual([expect.anything(), expect.stringContaining("takes changes again")]);
  await b.replica.refresh("reads");
  expect(b.tree()).toEqual(a.tree());
});

it.each(reasons)(
  "what a command did is sent when changes are taken again, without another call: %s",
  async reason => {
    await using fixture = new Fixture();
    const warned: string[] = [];
    const a = await fixture.machine("a", { "f.txt": "one\n" }, { warn: line => warned.push(line) });
    const b = await fixture.machine("b");
    const session = { client: "c", connection: "c" };
    const call = { workspace: a.workspace, session } as unknown as CallContext;
    const runs = { name: "run_command", effect: "runs" } as unknown as Tool;
    a.line.refusesAs = reason;
    const outcome = await inReplica(runs, {}, call, async () => {
      a.put("made.txt", "made\n");
      return { content: [] };
    });
    expect(outcome).toMatchObject({ isError: true });
    await a.replica.refresh("reads");
    expect(a.replica.staleMs).toBeUndefined();
    a.line.refusesAs = undefined;
    await vi.waitFor(async () => {
      await b.replica.refresh("reads");
      expect(b.tree()).toEqual(a.tree());
    }, patience);
    expect(warned).toHaveLength(2);
  },
);

it("changes that were answered here are sent when the store takes them again, without another call", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a", { "f.txt": "one\n" }, { durability: "local" });
  const b = await fixture.machine("b");
  a.line.refusesAs = "read_only";
  await a.write("f.txt", "two\n");
  await expect(a.replica.sent()).rejects.toMatchObject({ data: { reason: "read_only" } });
  a.line.refusesAs = undefined;
  await vi.waitFor(async () => {
    await b.replica.refresh("reads");
    expect(b.text("f.txt")).toBe("two\n");
  }, patience);
});
