// A change in the log holds the work of one author: what a program has written into a file that a tool changes next, and
// what another command does meanwhile, are changes of their own on every machine.
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { CallContext } from "../../src/contract/context.ts";
import { inReplica } from "../../src/contract/replicated-call.ts";
import type { Tool } from "../../src/contract/tool.ts";
import { listChanges } from "../../src/engine/history/changes.ts";
import { Before, record } from "../../src/engine/history/footprint.ts";
import { undo } from "../../src/engine/history/undo.ts";
import { undoMany } from "../../src/engine/history/undo-many.ts";
import { ServedTree } from "../dialects/served-tree.ts";
import { Fixture } from "./fixture.ts";

const patience = { timeout: 60_000, interval: 50 };
const lines = "one\ntwo\nthree\nfour\nfive\n";

/** Two servers of one workspace. The first one serves the tree. */
async function twoServers(tree: ServedTree) {
  const store = join(tree.base, "store");
  mkdirSync(store);
  const serve = async (root: string, state: string) => {
    const args = ["--store", store, "--store-workspace", "w", "--state-dir", join(tree.base, state)];
    const wire = await tree.start({ roots: [root], args: [...args, "--allow-run=unsandboxed"] });
    await wire.initialize();
    return wire;
  };
  const here = await serve(tree.root, "state-1");
  const there = await serve(tree.directory("other"), "state-2");
  return { here, there };
}

describe("a change of a file that a program has written to", () => {
  it.each([
    ["changed", { "f.txt": lines }, lines.replace("one", "program")],
    ["created", {}, lines.replace("one", "program")],
  ])("is undone elsewhere without the program's part: %s", async (_, files, written) => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", files);
    const b = await fixture.machine("b");
    a.put("f.txt", written);
    const { id } = await a.edit("f.txt", text => text.replace("five", "tool"));
    await b.replica.refresh("writes");
    expect(b.text("f.txt")).toBe(written.replace("five", "tool"));
    await undo(b.workspace, { change: id });
    expect(b.text("f.txt")).toBe(written);
    await a.replica.refresh("writes");
    expect(a.tree()).toEqual(b.tree());
  });

  it("is undone elsewhere with the program's part: deleted, overwritten", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { "f.txt": lines, "g.txt": lines });
    const b = await fixture.machine("b");
    a.put("f.txt", "program\n");
    a.put("g.txt", "program\n");
    const { id } = await a.workspace.commit([{ kind: "remove", path: a.workspace.at("f.txt") }]);
    const { id: other } = await a.write("g.txt", "tool\n");
    await b.replica.refresh("writes");
    for (const change of [id, other]) await undo(b.workspace, { change });
    expect([b.text("f.txt"), b.text("g.txt")]).toEqual(["program\n", "program\n"]);
    await a.replica.refresh("writes");
    expect(a.tree()).toEqual(b.tree());
  });

  it("does not overlap with itself if the store's answer is lost", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { "f.txt": lines }, {}, line => {
      line.isDeaf = true;
    });
    const b = await fixture.machine("b");
    a.line.beforeAppend = async () => {
      a.line.losesNext = true;
    };
    for (const word of ["un", "deux", "trois"]) {
      a.put("f.txt", lines.replace("one", word));
      await expect(a.edit("f.txt", text => text.replace("five", word))).rejects.toThrow();
    }
    a.line.beforeAppend = async () => {};
    a.line.losesNext = false;
    a.put("f.txt", lines.replace("one", "last"));
    await a.edit("f.txt", text => text.replace("five", "tool"));
    expect(a.text("f.txt")).toBe("last\ntwo\nthree\nfour\ntool\n");
    await b.replica.refresh("writes");
    expect(b.tree()).toEqual(a.tree());
  });
});

it("a command that ended while the store was lost is in the log under its name, before a change of the same file", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a", { "f.txt": lines });
  const b = await fixture.machine("b");
  const by = { action: "run_command", client: "c", connection: "c" };
  const id = a.workspace.archive.changes.newId();
  const ended = a.replica.commandRuns(by, () => {});
  a.put("f.txt", lines.replace("one", "command"));
  a.line.refusesAs = "rights";
  await expect(a.replica.publishChanges(by, undefined, { id, own: () => true })).rejects.toThrow();
  ended();
  a.line.refusesAs = undefined;
  const edit = await a.edit("f.txt", text => text.replace("five", "tool"));
  await b.replica.refresh("writes");
  expect(b.text("f.txt")).toBe(lines.replace("one", "command").replace("five", "tool"));
  const changes = await listChanges(b.workspace, { limit: 2 });
  expect(changes.map(one => [one.id, one.client])).toEqual([
    [edit.id, a.root],
    [id, "c"],
  ]);
});

it("a change is undone elsewhere without what a program has written after it was sent", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a", { "f.txt": lines });
  const b = await fixture.machine("b");
  const written = lines.replace("one", "program");
  let appended = 0;
  a.line.afterAppend = async () => {
    if (++appended === 1) a.put("f.txt", written);
  };
  const { id } = await a.edit("f.txt", text => text.replace("five", "tool"));
  await b.replica.refresh("writes");
  expect(b.text("f.txt")).toBe(written.replace("five", "tool"));
  expect(b.tree()).toEqual(a.tree());
  await undo(b.workspace, { change: id });
  expect(b.text("f.txt")).toBe(written);
  const [undone, others, own] = await listChanges(b.workspace, { limit: 3 });
  expect([undone?.undoes, others?.client, own?.id]).toEqual([id, "", id]);
  await a.replica.refresh("writes");
  expect(a.tree()).toEqual(b.tree());
  expect((await listChanges(a.workspace, { limit: 10 })).filter(one => one.id === id)).toHaveLength(1);
});

it("what a program has made is moved, copied and written into on every machine", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a", { "k/x.txt": lines, "f.txt": lines });
  const warned: string[] = [];
  const b = await fixture.machine("b", {}, { warn: message => warned.push(message) });
  const path = (name: string) => a.workspace.at(name);
  const move = (from: string, to: string) =>
    a.workspace.commit([{ kind: "move", from: path(from), to: path(to) }]);
  const copy = (from: string, to: string) =>
    a.workspace.commit([{ kind: "copy", from: path(from), to: path(to) }]);
  const same = async () => {
    await b.replica.refresh("writes");
    expect(b.tree()).toEqual(a.tree());
  };
  a.put("made.txt", "program\n");
  const { id } = await move("made.txt", "moved.txt");
  await same();
  await undo(b.workspace, { change: id });
  expect(b.text("made.txt")).toBe("program\n");
  await a.replica.refresh("writes");
  for (const act of [move, copy]) {
    a.put(`from-${act.name}/below/made.txt`, "program\n");
    await act(`from-${act.name}/below`, `to-${act.name}`);
    await same();
  }
  a.put("k/x.txt", "program\n");
  a.put("f.txt", "program\n");
  await copy("k", "l");
  await move("f.txt", "k/g.txt");
  await same();
  mkdirSync(join(a.root, "one/two"), { recursive: true });
  await a.write("one/two/tool.txt", "tool\n");
  await same();
  a.put("gone/below/made.txt", "program\n");
  const removed = await a.workspace.commit([{ kind: "remove", path: path("gone"), recursive: true }]);
  await same();
  await undo(b.workspace, { change: removed.id });
  expect(b.text("gone/below/made.txt")).toBe("program\n");
  await a.replica.refresh("writes");
  // Something else is there, or nothing any more.
  rmSync(join(a.root, "made.txt"));
  await move("one", "made.txt");
  await same();
  rmSync(join(a.root, "made.txt"), { recursive: true });
  a.put("made.txt", "program\n");
  await a.write("made.txt", "tool\n");
  rmSync(join(a.root, "made.txt"));
  mkdirSync(join(a.root, "made.txt"));
  await a.write("made.txt/tool.txt", "tool\n");
  await same();
  expect(warned).toEqual([]);
});

it("undoes all of several changes of which one could not be applied here", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a", { "1.txt": "0\n", "2.txt": "0\n", "3.txt": "0\n" });
  const b = await fixture.machine("b");
  for (const name of ["1.txt", "2.txt", "3.txt"]) await a.write(name, "1\n");
  const records = await listChanges(a.workspace, { limit: 3 });
  let appended = 0;
  a.line.afterAppend = async () => {
    if (++appended === 2) a.put("2.txt", "program\n");
  };
  const undone = await undoMany(a.workspace, records, {}).then(
    () => "done",
    error => error.code,
  );
  a.line.afterAppend = async () => {};
  await b.replica.refresh("writes");
  const texts = ["1.txt", "2.txt", "3.txt"].map(name => b.text(name));
  expect({ undone, texts }).toEqual({ undone: "not_applied", texts: ["0\n", "0\n", "0\n"] });
});

it("gives each of two commands at the same time its own change, under its own id", async () => {
  await using tree = new ServedTree("polyfs", { "kept.txt": "kept\n" });
  const { here, there } = await twoServers(tree);
  const [wrote, go] = [join(tree.base, "wrote"), join(tree.base, "go")];
  const long = here.call("run_command", {
    command: `echo long > long.txt; : > '${wrote}'; until [ -e '${go}' ]; do sleep 0.05; done`,
  });
  await vi.waitFor(() => expect(existsSync(wrote)).toBe(true), patience);
  const short = JSON.stringify(
    (await here.call("run_command", { command: "echo short > short.txt" })).content,
  );
  const edited = JSON.stringify(
    (await here.call("write_file", { path: "long.txt", content: "tool\n", mode: "append" })).content,
  );
  writeFileSync(go, "");
  const ended = JSON.stringify((await long).content);
  const idIn = (said: string) => /change ([0-9a-z]+)/.exec(said)?.[1] ?? said;
  const undone = async (change: string) => {
    const { content, isError } = await there.call("undo", { change });
    return `${isError === true} ${JSON.stringify(content)}`;
  };
  expect(await undone(idIn(edited))).toMatch(/^false .*changed back long\.txt/);
  expect(await undone(idIn(short))).toMatch(/^false .*removed short\.txt/);
  expect(await undone(idIn(ended))).toMatch(/^false .*removed long\.txt/);
});

it("says that only its server knows the id of a command whose work another command has published", async () => {
  await using tree = new ServedTree("polyfs", { "f.txt": lines });
  const { here, there } = await twoServers(tree);
  const [wrote, go] = [join(tree.base, "wrote"), join(tree.base, "go")];
  const long = here.call("run_command", {
    command: `echo long >> f.txt; : > '${wrote}'; until [ -e '${go}' ]; do sleep 0.05; done`,
  });
  await vi.waitFor(() => expect(existsSync(wrote)).toBe(true), patience);
  const short = JSON.stringify((await here.call("run_command", { command: "echo short >> f.txt" })).content);
  writeFileSync(go, "");
  const ended = JSON.stringify((await long).content);
  const note = /only this server, \S+, knows this change by its id/;
  expect([note.test(short), note.test(ended)]).toEqual([false, true]);
  const undone = async (wire: typeof here, said: string) => {
    const [, change = said] = /change ([0-9a-z]+)/.exec(said) ?? [];
    return JSON.stringify((await wire.call("undo", { change, path: "f.txt", dry_run: true })).content);
  };
  expect(await undone(there, short)).toContain("short");
  expect(await undone(there, ended)).toContain("there is no change");
  expect(await undone(here, ended)).toContain("long");
});

const runs = { name: "run_command", effect: "runs" } as unknown as Tool;

describe("a command whose change could not be published at first, and is gone when it can be", () => {
  const [client, connection] = ["c", "c"];
  const by = { action: "run_command", client, connection };
  it.each([
    ["a program puts the file back", { isCut: true }, "command\n", lines],
    ["another server writes the same", { isCut: true }, "command\n", undefined],
    ["it did not fit, and is put back", {}, "command\n".repeat(10_000), lines],
  ])("says that only its server knows the id: %s", async (_, failure, written, after) => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { "f.txt": lines }, { maxBytes: 50_000 });
    const b = await fixture.machine("b");
    const call = { workspace: a.workspace, session: { client, connection } } as unknown as CallContext;
    let id = "";
    const outcome = await inReplica(runs, {}, call, async () => {
      using before = await Before.look(a.workspace);
      a.put("f.txt", written);
      Object.assign(a.line, failure);
      id = (await record(a.workspace, await before.compare(), by))?.record.id ?? "";
      if (after === undefined) await b.write("f.txt", written);
      else a.put("f.txt", after);
      a.line.isCut = false;
      return { content: [{ type: "text", text: `undo with change ${id}` }] };
    });
    expect(JSON.stringify(outcome)).toMatch(/only this server, \S+, knows this change by its id/);
    await b.replica.refresh("writes");
    await expect(undo(b.workspace, { change: id })).rejects.toMatchObject({ code: "unknown_change" });
    expect(b.tree()).toEqual(a.tree());
  });
});

it("says that others may get the work of several waiting commands in one file under the id of the first", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a", { "f.txt": lines });
  const b = await fixture.machine("b");
  // Both are accepted before the store is lost.
  const run = async (client: string, before: () => Promise<unknown>) => {
    const session = { client, connection: client };
    const call = { workspace: a.workspace, session } as unknown as CallContext;
    let id = "";
    const outcome = await inReplica(runs, {}, call, async () => {
      await before();
      using look = await Before.look(a.workspace);
      a.put("f.txt", `${a.text("f.txt")}${client}\n`);
      const by = { action: "run_command", ...session };
      id = (await record(a.workspace, await look.compare(), by))?.record.id ?? "";
      return { content: [{ type: "text", text: `undo with change ${id}` }] };
    });
    return { id, said: JSON.stringify(outcome) };
  };
  let areAccepted = () => {};
  const accepted = new Promise<void>(resolve => {
    areAccepted = resolve;
  });
  const running = run("first", async () => {
    await accepted;
    a.line.isCut = true;
  });
  const second = await run("second", async () => {
    areAccepted();
    await running;
  });
  const first = await running;
  a.line.isCut = false;
  await a.replica.publishChanges({ action: "run_command", client: "third", connection: "third" });
  await b.replica.refresh("writes");
  const note = /reach the others when .* under the id of the first/;
  expect([note.test(first.said), note.test(second.said)]).toEqual([false, true]);
  expect(b.text("f.txt")).toBe(`${lines}first\nsecond\n`);
  await expect(undo(b.workspace, { change: second.id })).rejects.toMatchObject({ code: "unknown_change" });
  await undo(b.workspace, { change: first.id });
  expect(b.text("f.txt")).toBe(lines);
});

describe("a command that the store did not answer at first", () => {
  const by = { action: "run_command", client: "test", connection: "c" };
  it.each([
    ["reached", { isCut: true }],
    ["answered", { losesNext: true }],
  ])("is one change under its id, with the rest beside it: not %s", async (_, failure) => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { "f.txt": lines }, {}, line => {
      line.isDeaf = true;
    });
    const b = await fixture.machine("b");
    const ended = a.replica.commandRuns(by, () => {});
    a.put("f.txt", "command\n");
    a.put("other.txt", "another program\n");
    const id = a.workspace.archive.changes.newId();
    const own = (path: string) => path.endsWith("/f.txt");
    Object.assign(a.line, failure);
    await expect(a.replica.publishChanges(by, undefined, { id, own })).rejects.toThrow();
    a.line.isCut = false;
    await a.replica.publishChanges(by);
    await a.replica.publishChanges(by);
    ended();
    await b.replica.refresh("writes");
    expect(b.tree()).toEqual(a.tree());
    const ids = (await listChanges(b.workspace, { limit: 10 })).map(one => one.id);
    expect(ids.filter(one => one === id)).toEqual([id]);
    await undo(b.workspace, { change: id });
    expect(b.text("f.txt")).toBe(lines);
    expect(b.text("other.txt")).toBe("another program\n");
  });
});

it("two commands that the store did not answer are two changes, each under its id and for its author", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a", { "f.txt": lines }, {}, line => {
    line.isDeaf = true;
  });
  const b = await fixture.machine("b");
  const commands = ["first", "second"].map(client => {
    const by = { action: "run_command", client, connection: client };
    const own = (path: string) => path.endsWith(`/${client}.txt`);
    const change = { id: a.workspace.archive.changes.newId(), own };
    return { by, change, ended: a.replica.commandRuns(by, () => {}) };
  });
  for (const name of ["first.txt", "second.txt", "other.txt"]) a.put(name, "made\n");
  a.line.isCut = true;
  for (const { by, change, ended } of commands) {
    await expect(a.replica.publishChanges(by, undefined, change)).rejects.toThrow();
    await expect(a.replica.publishChanges(by)).rejects.toThrow();
    ended();
  }
  a.line.isCut = false;
  await a.replica.refresh("writes");
  await vi.waitFor(async () => {
    await b.replica.refresh("writes");
    expect(b.tree()).toEqual(a.tree());
  }, patience);
  const [first, second] = commands.map(({ change }) => change.id);
  const made = (await listChanges(b.workspace, { limit: 3 })).reverse();
  expect(made.map(({ id, client, files }) => [id, client, files.map(({ at }) => basename(at))])).toEqual([
    [first, "first", ["first.txt"]],
    [second, "second", ["second.txt"]],
    [expect.any(String), "", ["other.txt"]],
  ]);
});

it("what a command did while the store was lost is sent by the next start, if the server ends before", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a", { "f.txt": lines });
  const b = await fixture.machine("b");
  const by = { action: "run_command", client: "test", connection: "c" };
  const ended = a.replica.commandRuns(by, () => {});
  a.put("made.txt", "command\n");
  a.put("f.txt", lines.replace("one", "command"));
  a.line.isCut = true;
  await expect(a.replica.publishChanges(by)).rejects.toThrow();
  ended();
  await a.replica[Symbol.asyncDispose]();
  await b.edit("f.txt", text => text.replace("five", "theirs"));
  const again = await fixture.machine("a");
  await b.replica.refresh("writes");
  expect(b.text("made.txt")).toBe("command\n");
  expect(b.text("f.txt")).toBe("command\ntwo\nthree\nfour\ntheirs\n");
  expect(again.tree()).toEqual(b.tree());
  // Once everything is in the store, the directory is only a copy.
  await again.replica[Symbol.asyncDispose]();
  again.put("made.txt", "not a command\n");
  expect((await fixture.machine("a")).text("made.txt")).toBe("command\n");
});

it("what a command did while the store was lost stays if a change of others cannot be made here", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a", { "f.txt": lines, "d/x.txt": lines });
  const b = await fixture.machine("b");
  const by = { action: "run_command", client: "test", connection: "c" };
  const ended = a.replica.commandRuns(by, () => {});
  a.put("made.txt", "command\n");
  a.put("f.txt", lines.replace("one", "command"));
  rmSync(join(a.root, "d"), { recursive: true });
  a.line.isCut = true;
  await expect(a.replica.publishChanges(by)).rejects.toThrow();
  ended();
  const path = (name: string) => b.workspace.at(name);
  const { id } = await b.workspace.commit([{ kind: "move", from: path("d/x.txt"), to: path("d/y.txt") }]);
  a.line.isCut = false;
  await a.replica.refresh("writes");
  await vi.waitFor(async () => {
    await b.replica.refresh("writes");
    expect(b.text("made.txt")).toBe("command\n");
  }, patience);
  expect(b.text("f.txt")).toBe(lines.replace("one", "command"));
  expect(b.text("d/y.txt")).toBe(lines);
  expect(b.tree()).toEqual(a.tree());
  // The change of others is in the history here too.
  await undo(a.workspace, { change: id });
  expect(Object.keys(a.tree())).toContain("d/x.txt");
});

it("what a command did while the store was lost is not sent together with the work of one that runs", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a", { "f.txt": lines });
  const b = await fixture.machine("b");
  const [first, second] = ["first", "second"].map(client => ({
    ...{ action: "run_command", client, connection: client },
  }));
  if (first === undefined || second === undefined) throw new Error("two commands");
  const ends = [first, second].map(by => a.replica.commandRuns(by, () => {}));
  a.put("first.txt", "made\n");
  a.put("second.txt", "made\n");
  a.line.isCut = true;
  await expect(a.replica.publishChanges(first)).rejects.toThrow();
  ends[0]?.();
  a.line.isCut = false;
  await a.replica.refresh("writes");
  const change = {
    id: a.workspace.archive.changes.newId(),
    own: (path: string) => path.endsWith("/second.txt"),
  };
  expect(await a.replica.publishChanges(second, undefined, change)).toBe(change.id);
  await a.replica.publishChanges(second);
  ends[1]?.();
  await b.replica.refresh("writes");
  expect(b.tree()).toEqual(a.tree());
  const found = (await listChanges(b.workspace, { limit: 10 })).find(one => one.id === change.id);
  expect(found?.files.map(({ at }) => basename(at))).toEqual(["second.txt"]);
});

it("a command is answered with the id of its work that a tool's change had to send before", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a", { "f.txt": lines }, {}, line => {
    line.isDeaf = true;
  });
  const b = await fixture.machine("b");
  const by = { action: "run_command", client: "test", connection: "c" };
  const command = async (send: () => Promise<unknown>) => {
    const ended = a.replica.commandRuns(by, () => {});
    await send();
    const own = (path: string) => path.endsWith("/f.txt");
    const id = await a.replica.publishChanges(by, undefined, {
      id: a.workspace.archive.changes.newId(),
      own,
    });
    ended();
    await b.replica.refresh("writes");
    expect(b.tree()).toEqual(a.tree());
    const found = (await listChanges(b.workspace, { limit: 10 })).find(one => one.id === id);
    expect(found).toMatchObject({ client: "test", action: "run_command" });
  };
  // The answer is lost.
  await command(async () => {
    a.put("f.txt", lines.replace("one", "command"));
    a.line.losesNext = true;
    await expect(a.edit("f.txt", text => text.replace("five", "tool"))).rejects.toThrow();
  });
  // The command writes while the change is sent.
  await command(async () => {
    let appended = 0;
    a.line.afterAppend = async () => {
      if (++appended === 1) a.put("f.txt", a.text("f.txt").replace("three", "command"));
    };
    await a.edit("f.txt", text => text.replace("five", "tool"));
    a.line.afterAppend = async () => {};
  });
});

it("what a command has written since is not lost if the entry that got no answer arrives late", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a", { "f.txt": lines }, {}, line => {
    line.isDeaf = true;
  });
  const b = await fixture.machine("b");
  const by = { action: "run_command", client: "test", connection: "c" };
  const ended = a.replica.commandRuns(by, () => {});
  a.put("f.txt", lines.replace("one", "first"));
  a.line.delaysNext = true;
  const id = a.workspace.archive.changes.newId();
  const own = (path: string) => path.endsWith("/f.txt");
  await expect(a.replica.publishChanges(by, undefined, { id, own })).rejects.toThrow();
  a.put("f.txt", lines.replace("one", "first").replace("five", "second"));
  await a.replica.publishChanges(by);
  ended();
  await b.replica.refresh("writes");
  expect(b.text("f.txt")).toBe("first\ntwo\nthree\nfour\nsecond\n");
  expect(b.tree()).toEqual(a.tree());
  const ids = (await listChanges(b.workspace, { limit: 10 })).map(one => one.id);
  expect(ids.filter(one => one === id)).toEqual([id]);
});

it("a command is answered when everything is in the store, also what is not known to be its own", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a", { "f.txt": lines });
  const b = await fixture.machine("b");
  const [by, other] = ["c", "d"].map(connection => ({ action: "run_command", client: "test", connection }));
  if (by === undefined || other === undefined) throw new Error("two commands");
  const ends = [by, other].map(one => a.replica.commandRuns(one, () => {}));
  a.put("f.txt", lines.replace("one", "command"));
  await b.edit("f.txt", text => text.replace("five", "theirs")); // merged into what the command has written
  await a.replica.publishChanges(by, undefined, {
    id: a.workspace.archive.changes.newId(),
    own: () => false,
  });
  await a.replica.publishChanges(by);
  await b.replica.refresh("writes");
  expect(b.text("f.txt")).toBe(lines.replace("one", "command").replace("five", "theirs"));
  for (const end of ends) end();
});

it("a command that ends leaves the work of another to that one, to be its change under its id", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a", { "f.txt": lines });
  const b = await fixture.machine("b");
  const commands = ["first", "second", "third"].map(client => {
    const by = { action: "run_command", client, connection: client };
    const own = (path: string) => path.endsWith(`/${client}.txt`);
    const change = { id: a.workspace.archive.changes.newId(), own };
    return { by, change, ended: a.replica.commandRuns(by, () => {}) };
  });
  for (const name of ["first.txt", "second.txt", "third.txt"]) a.put(name, "made\n");
  const answered: (string | undefined)[] = [];
  for (const { by, change, ended } of commands) {
    answered.push(await a.replica.publishChanges(by, undefined, change));
    await a.replica.publishChanges(by);
    ended();
  }
  await b.replica.refresh("writes");
  expect(b.tree()).toEqual(a.tree());
  const made = (await listChanges(b.workspace, { limit: 3 })).reverse();
  expect(made.map(({ id, client, files }) => [id, client, files.map(({ at }) => basename(at))])).toEqual(
    commands.map(({ by, change }) => [change.id, by.client, [`${by.client}.txt`]]),
  );
  expect(answered).toEqual(commands.map(({ change }) => change.id));
});
