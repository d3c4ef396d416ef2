// Commands that end while the store takes no changes: each reaches the others later, under the id that it was answered
// with, however often the store fails again meanwhile.
import { expect, it, vi } from "vitest";
import { Fault } from "../../src/engine/fault.ts";
import { listChanges } from "../../src/engine/history/changes.ts";
import { undo } from "../../src/engine/history/undo.ts";
import { Fixture, type Machine, stopWith } from "./fixture.ts";

const patience = { timeout: 10_000, interval: 50 };
const lines = "one\ntwo\nthree\nfour\nfive\n";

/** A command that has done its work. */
function commandOn({ replica, workspace }: Machine, client: string, ...files: readonly string[]) {
  const by = { action: "run_command", client, connection: client };
  const stop = replica.commandRuns(by, () => {});
  const id = workspace.archive.changes.newId();
  const own = (path: string) => files.some(name => path.endsWith(`/${name}`));
  const publish = () => replica.publishChanges(by, undefined, { id, own });
  /** As at the end of a call: first its own changes, then the rest. */
  const end = async () => {
    const results = await Promise.allSettled([publish()]);
    results.push(...(await Promise.allSettled([replica.publishChanges(by)])));
    stop();
    return results.map(({ status }) => status);
  };
  return { id, publish, end };
}

const refused = ["rejected", "rejected"];

it("two that wrote to one file while the store refused changes are two changes, each under its own id", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a", { "f.txt": lines });
  const b = await fixture.machine("b");
  const [first, second] = [commandOn(a, "first", "f.txt"), commandOn(a, "second", "f.txt")];
  a.line.refusesAs = "read_only";
  a.put("f.txt", lines.replace("one", "first"));
  expect(await first.end()).toEqual(refused);
  a.put("f.txt", lines.replace("one", "first").replace("five", "second"));
  expect(await second.end()).toEqual(refused);
  a.line.refusesAs = undefined;
  await vi.waitFor(async () => {
    await b.replica.refresh("writes");
    expect(b.tree()).toEqual(a.tree());
  }, patience);
  const made = (await listChanges(b.workspace, { limit: 10 })).map(({ id, client }) => [id, client]);
  expect(made.reverse()).toEqual([
    [first.id, "first"],
    [second.id, "second"],
  ]);
  await undo(b.workspace, { change: first.id, path: b.workspace.at("f.txt") });
  expect(b.text("f.txt")).toBe(lines.replace("five", "second"));
});

it("what the store does not take of one does not stop changes of other files", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a", { "f.txt": lines });
  const b = await fixture.machine("b");
  a.line.beforeAppend = async ({ body }) => {
    if (body.includes('"large"'))
      throw new Fault("store_unavailable", { reason: "unreachable", detail: "statement timeout" });
  };
  a.put("large", "x\n");
  const by = { action: "run_command", client: "c", connection: "c" };
  await expect(a.replica.publishChanges(by)).rejects.toThrow();
  for (const path of ["f.txt", "g.txt"]) await a.write(path, "2\n");
  await b.replica.refresh("reads");
  expect([b.text("f.txt"), b.text("g.txt")]).toEqual(["2\n", "2\n"]);
  a.line.beforeAppend = async () => {};
  await vi.waitFor(async () => {
    await a.replica.refresh("writes");
    await b.replica.refresh("writes");
    expect(b.text("large")).toBe("x\n");
  }, patience);
});

it("one that waits goes before one that ends when the store is back", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a", { "f.txt": lines });
  const b = await fixture.machine("b");
  const [first, second] = [commandOn(a, "first", "f.txt"), commandOn(a, "second", "f.txt")];
  a.line.refusesAs = "read_only";
  a.put("f.txt", lines.replace("one", "first"));
  expect(await first.end()).toEqual(refused);
  a.line.refusesAs = undefined;
  a.put("f.txt", lines.replace("one", "first").replace("five", "second"));
  expect(await second.end()).toEqual(["fulfilled", "fulfilled"]);
  await b.replica.refresh("writes");
  expect(b.tree()).toEqual(a.tree());
  const made = (await listChanges(b.workspace, { limit: 10 })).map(({ id, client }) => [id, client]);
  expect(made.reverse()).toEqual([
    [first.id, "first"],
    [second.id, "second"],
  ]);
});

it("all of what one did reaches the others if the store fails again while a part of it is sent", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a", { "f.txt": lines });
  const b = await fixture.machine("b");
  const { end } = commandOn(a, "first", "f.txt");
  a.put("f.txt", "first\n");
  a.put("beside.txt", "made by a process that it has left behind\n");
  a.line.isCut = true;
  expect(await end()).toEqual(refused);
  let isRefused = false;
  a.line.beforeAppend = async () => {
    a.line.isCut = !isRefused;
    isRefused = true;
  };
  a.line.isCut = false;
  await vi.waitFor(() => expect(isRefused).toBe(true), patience);
  a.line.isCut = false;
  await vi.waitFor(async () => {
    await b.replica.refresh("reads");
    expect(b.tree()).toEqual(a.tree());
  }, patience);
});

it("lines that follow an entry whose answer was lost are the change of the command that wrote them", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a", { "f.txt": lines });
  const b = await fixture.machine("b");
  const [first, second] = [commandOn(a, "first", "f.txt"), commandOn(a, "second", "f.txt")];
  a.line.losesNext = true;
  a.put("f.txt", lines.replace("one", "first"));
  await expect(first.publish()).rejects.toThrow();
  a.put("f.txt", lines.replace("one", "first").replace("five", "second"));
  await second.end();
  await b.replica.refresh("writes");
  expect(b.tree()).toEqual(a.tree());
  const made = (await listChanges(b.workspace, { limit: 10 })).map(({ id, client }) => [id, client]);
  expect(made.reverse()).toEqual([
    [first.id, "first"],
    [second.id, "second"],
  ]);
});

it("what does not fit is not tried again with every call, and is sent by a start that has room", async () => {
  await using fixture = new Fixture();
  const warnings: string[] = [];
  const a = await fixture.machine("a", { "f.txt": lines }, { maxBytes: 3000 });
  const b = await fixture.machine("b");
  let appends = 0;
  a.put("large.txt", "x".repeat(20_000));
  a.line.isCut = true;
  await expect(a.replica.publishChanges({ action: "run_command", client: "test" })).rejects.toThrow();
  a.line.beforeAppend = async () => void appends++;
  a.line.isCut = false;
  await vi.waitFor(async () => {
    await a.replica.refresh("reads");
    expect(appends).toBe(1);
  }, patience);
  await a.replica.refresh("writes");
  await a.replica.refresh("writes");
  expect(appends).toBe(1);

  const c = await fixture.machine("c", {}, { durability: "local" });
  await stopWith(c, () => c.write("answered.txt", "y".repeat(20_000)));
  const full = await fixture.machine("c", {}, { maxBytes: 3000, warn: text => warnings.push(text) });
  expect(warnings.join()).toContain("answered changes are not in the store");
  expect(full.text("answered.txt")).toHaveLength(20_000);
  await full.replica[Symbol.asyncDispose]();
  await full.workspace.settled();
  await fixture.machine("c");
  await b.replica.refresh("writes");
  expect(b.text("answered.txt")).toHaveLength(20_000);
});

it("are sent by the next start if the server ends while it sends them, and the store fails again", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a", { "f.txt": lines });
  const b = await fixture.machine("b");
  const first = commandOn(a, "first", "f.txt");
  a.put("f.txt", lines.replace("one", "first"));
  a.line.isCut = true;
  expect(await first.end()).toEqual(refused);
  let go = () => {};
  const held = new Promise<void>(resolve => {
    go = resolve;
  });
  const isSending = new Promise<void>(resolve => {
    a.line.beforeAppend = () => {
      resolve();
      return held;
    };
  });
  a.line.isCut = false;
  await isSending;
  a.line.isCut = true;
  const ended = a.replica[Symbol.asyncDispose]();
  await new Promise(setImmediate);
  go();
  await ended;
  await a.workspace.settled();
  const again = await fixture.machine("a");
  await b.replica.refresh("reads");
  expect(b.text("f.txt")).toBe(lines.replace("one", "first"));
  expect(again.tree()).toEqual(b.tree());
});

it("what no command did is tried again as one entry, however long the store takes no changes", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a", { "f.txt": lines });
  const b = await fixture.machine("b");
  const sent = new Set<string>();
  a.line.beforeAppend = async ({ id }) => void sent.add(id);
  a.line.refusesAs = "full";
  for (let turn = 0; turn < 5; turn++) {
    a.put("log.txt", "a program goes on\n".repeat(turn + 1));
    expect(await commandOn(a, `c${turn}`, "none.txt").end()).toContain("rejected");
    await expect(a.edit("log.txt", text => `${text}an edit\n`)).rejects.toThrow();
  }
  expect(sent.size).toBe(1);
  a.line.refusesAs = undefined;
  await vi.waitFor(async () => {
    await b.replica.refresh("reads");
    expect(b.tree()).toEqual(a.tree());
  }, patience);
});

it("one with more files than an entry holds is tried again as the entries it began as", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a", { "f.txt": lines });
  const b = await fixture.machine("b");
  const sent = new Set<string>();
  a.line.beforeAppend = async ({ id }) => {
    sent.add(id);
    if (sent.size > 1) a.line.refusesAs = "full";
  };
  for (let n = 0; n < 600; n++) a.put(`d/${n}`, "made\n");
  expect(await commandOn(a, "first", ...Array.from({ length: 600 }, (_, n) => `${n}`), "d").end()).toEqual(
    refused,
  );
  for (let turn = 0; turn < 5; turn++)
    await expect(a.replica.publishChanges({ action: "run_command", client: "other" })).rejects.toThrow();
  expect(sent.size).toBe(2);
  a.line.beforeAppend = async () => {};
  a.line.refusesAs = undefined;
  await vi.waitFor(async () => {
    await b.replica.refresh("reads");
    expect(b.tree()).toEqual(a.tree());
  }, patience);
});

it("arrive where another machine has moved or copied their files meanwhile, under their own ids", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a", { "d/f.txt": lines, "d/g.txt": lines });
  const b = await fixture.machine("b");
  const [first, second] = [commandOn(a, "first", "d", "f.txt"), commandOn(a, "second", "d", "g.txt")];
  a.line.isCut = true;
  a.put("d/f.txt", lines.replace("one", "first"));
  expect(await first.end()).toEqual(refused);
  a.put("d/g.txt", lines.replace("one", "second"));
  expect(await second.end()).toEqual(refused);
  const path = (name: string) => b.workspace.at(name);
  await b.workspace.commit([{ kind: "move", from: path("d"), to: path("e") }]);
  await b.workspace.commit([{ kind: "copy", from: path("e/f.txt"), to: path("copy.txt") }]);
  await b.workspace.commit([{ kind: "move", from: path("e"), to: path("h") }]);
  a.line.isCut = false;
  await vi.waitFor(async () => {
    await b.replica.refresh("writes");
    expect(b.tree()).toEqual(a.tree());
    expect(b.text("h/g.txt")).toBe(lines.replace("one", "second"));
  }, patience);
  expect(b.text("h/f.txt")).toBe(lines.replace("one", "first"));
  const made = (await listChanges(b.workspace, { limit: 10 })).map(({ id, client }) => [id, client]);
  expect(made).toContainEqual([first.id, "first"]);
  expect(made).toContainEqual([second.id, "second"]);
  expect(made.some(([, client]) => client === "")).toBe(false);
  await undo(b.workspace, { change: first.id });
  expect([b.text("h/f.txt"), b.text("copy.txt")]).toEqual([lines, lines]);
});
