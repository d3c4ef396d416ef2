// Looking back: whose changes they were, what they come to, and taking them back step by step.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { changeIn, Fixture, numbered, type Server } from "./fixture.ts";

let fixture: Fixture;
let server: Server;
beforeAll(async () => {
  fixture = new Fixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(async () => {
  fixture.reset({ "a.txt": numbered(40), "b.txt": "b\n" });
  server = await fixture.serve();
});

const edit = async (old: string, added: string, on = server, path = "a.txt") =>
  changeIn(await on.says("edit_file", { path, edits: [{ old: `\n${old}\n`, new: `\n${added}\n` }] }));

describe("every change names its id", () => {
  it("whatever made it", async () => {
    const calls: [string, unknown][] = [
      ["write_file", { path: "n.txt", content: "n\n" }],
      ["write_file", { path: "n.txt", content: "m\n", mode: "append" }],
      ["edit_file", { path: "n.txt", edits: [{ old: "n", new: "x" }] }],
      ["replace_in_files", { paths: ["n.txt"], old: "x", new: "y" }],
      ["copy_path", { from: "n.txt", to: "o.txt" }],
      ["move_path", { from: "o.txt", to: "p.txt" }],
      ["delete_path", { path: "p.txt" }],
      ["create_directory", { path: "dir" }],
      ["undo", {}],
    ];
    const ids = new Set<string>();
    for (const [name, params] of calls) ids.add(changeIn(await server.says(name, params)));
    expect(ids.size).toBe(calls.length);
  });
});

describe("undo without arguments", () => {
  it("undoes one more change of this connection each time, and never one of another connection", async () => {
    const other = await fixture.serve();
    await edit("5", "five");
    await edit("15", "fifteen");
    await edit("25", "twenty-five", other);
    await edit("35", "thirty-five");
    for (const gone of ["thirty-five", "fifteen", "five\n6"]) {
      expect(fixture.read("a.txt")).toContain(gone);
      await server.says("undo");
      expect(fixture.read("a.txt")).not.toContain(gone);
    }
    expect(fixture.read("a.txt")).toContain("twenty-five");
    expect((await server.refuses("undo"))[0]).toBe("not_found: there is no change to undo");
  });

  it.each([
    ["by path", { path: "a.txt" }],
    ["by step", {}],
  ])("several that come at once, %s, each undo another change", async (_, params) => {
    const numbers = ["5", "15", "25", "35"];
    for (const number of numbers) await edit(number, `changed ${number}`);
    const second = await fixture.serve();
    // Of two servers where both look at the same file: each connection has its own last change otherwise.
    const on = "path" in params ? [server, second, server] : [server, server, server];
    const answers = await Promise.all(on.map(one => one.says("undo", params)));
    const undone = answers.map(answer => /^undid (\w+)/.exec(answer)?.[1]);
    expect(new Set(undone).size).toBe(3);
    expect(answers.join("\n")).not.toMatch(/no difference|nothing is left/);
    expect(fixture.read("a.txt").match(/changed/g)).toHaveLength(1);
    expect(fixture.read("a.txt")).toContain("changed 5\n");
  });

  describe("after a redo", () => {
    let redo: () => Promise<string>;
    let before: string;
    beforeEach(async () => {
      fixture.reset({ "d/x/f.txt": "f\n", "d/g.txt": "g\n" });
      before = changeIn(await server.says("create_directory", { path: "n" }));
      await server.says("move_path", { from: "d", to: "e" });
      const undone = changeIn(await server.says("undo"));
      await server.says("delete_path", { path: "d/x", recursive: true });
      redo = async () => changeIn(await server.says("undo", { change: undone }));
    });

    it("takes the redone change first, then the one that was made before the redo", async () => {
      await redo();
      expect(await server.says("undo")).toContain("moved back e -> d");
      expect(await server.says("undo")).toContain("restored d/x");
      expect(fixture.read("d/x/f.txt")).toBe("f\n");
    });

    it("takes it again after it was undone and redone again", async () => {
      await redo();
      const again = changeIn(await server.says("undo"));
      await server.says("undo", { change: again });
      expect(await server.says("undo")).toContain("moved back e -> d");
      expect(await server.says("undo")).toContain("restored d/x");
    });

    it("takes the change that was made before the redo, if the redo itself was undone", async () => {
      const id = await redo();
      await server.says("undo", { change: id });
      expect(await server.says("undo")).toContain("restored d/x");
    });

    it("undoes all changes since one in the order that they took effect in", async () => {
      await redo();
      await server.says("undo", { since: before });
      expect(fixture.read("d/x/f.txt")).toBe("f\n");
      expect(fixture.read("d/g.txt")).toBe("g\n");
    });

    it("knows which of its files were undone before", async () => {
      fixture.reset({ "g.txt": "g\n", "k.txt": "g\n" });
      const both = changeIn(await server.says("replace_in_files", { paths: ["*.txt"], old: "g", new: "h" }));
      await server.says("undo", { change: both, path: "k.txt" });
      const undone = changeIn(await server.says("undo"));
      await server.says("write_file", { path: "m.txt", content: "m\n" });
      await server.says("undo", { change: undone });
      expect(await server.says("undo")).toMatch(/^changed back g.txt/m);
      expect(["g.txt", "k.txt", "m.txt"].map(name => fixture.read(name))).toEqual(["g\n", "g\n", "m\n"]);
    });

    it("leaves a change of an earlier connection that another one has redone", async () => {
      fixture.reset({ "a.txt": numbered(40) });
      await edit("5", "five");
      const undone = changeIn(await server.says("undo"));
      const [later, third] = [await fixture.serve(), await fixture.serve()];
      await edit("15", "fifteen", later);
      await third.says("undo", { change: undone });
      await later.says("undo");
      expect(fixture.read("a.txt")).toContain("five\n6");
      expect(fixture.read("a.txt")).not.toContain("fifteen");
    });
  });

  it("an undo that is named is done again, and then can be undone", async () => {
    await edit("5", "five");
    const id = changeIn(await server.says("undo"));
    await server.says("undo", { change: id });
    expect(fixture.read("a.txt")).toContain("five");
    await server.says("undo");
    expect(fixture.read("a.txt")).toBe(numbered(40));
  });

  it("says how to take back an undo: by its id, which redoes, and not by the next undo", async () => {
    await edit("5", "five");
    await edit("15", "fifteen");
    const undone = await server.says("undo");
    const id = changeIn(undone);
    expect(undone).toContain(`change ${id} (undo with change: "${id}" redoes it)`);
    const redone = await server.says("undo", { change: id });
    expect(redone).toContain(`(undo with change: "${changeIn(redone)}" reverts it)`);
    expect(fixture.read("a.txt")).toContain("fifteen");
    await server.says("undo", { change: changeIn(redone) });
    expect(fixture.read("a.txt")).not.toContain("fifteen");
    await server.says("list_changes", { diff: true });
    const byHunk = await server.says("undo", { since: "start", hunks: [1] });
    expect(byHunk).toContain(`(undo with change: "${changeIn(byHunk)}" redoes it)`);
  });

  it("says that nothing is left of a change, and the next time passes over it", async () => {
    await edit("5", "five");
    await edit("15", "fifteen");
    const made = changeIn(await server.says("write_file", { path: "made.txt", content: "made\n" }));
    rmSync(join(fixture.root, "made.txt"));
    const passed = `[nothing was left of ${made} (write_file)]`;
    const gone = new RegExp(`^nothing left of ${made} \\(write_file\\)`);
    for (const how of [{ dry_run: true }, {}]) expect(await server.says("undo", how)).toMatch(gone);
    expect(fixture.read("a.txt")).toContain("fifteen");
    const dry = await server.says("undo", { dry_run: true });
    expect(dry).toMatch(/^would undo \w+ \(edit_file\)/);
    expect(dry).toContain(passed);
    expect(await server.says("undo")).toContain(passed);
    expect(fixture.read("a.txt")).not.toContain("fifteen");
    expect(await server.says("undo")).toContain(passed);
    expect(fixture.read("a.txt")).toBe(numbered(40));
    const last = await server.says("undo");
    expect(last).toMatch(gone);
    expect(await server.says("undo", { path: "made.txt" })).toMatch(/^nothing left of /);
  });

  it("a connection without changes takes those of the client's earlier ones, and says so", async () => {
    await edit("5", "five");
    await edit("15", "fifteen");
    const next = await fixture.serve();
    expect(await next.says("undo")).toMatch(/\n\[of an earlier connection, made 20\d\d-/);
    await next.says("undo");
    expect(fixture.read("a.txt")).toBe(numbered(40));
  });
});

describe("list_changes", () => {
  it("refuses a change that does not exist, instead of finding nothing before it", async () => {
    const id = await edit("5", "five");
    const last = await edit("15", "fifteen");
    expect(await server.says("list_changes", { before: last })).toContain(id);
    expect((await server.refuses("list_changes", { before: "mistyped" }))[0]).toBe(
      "not_found: there is no change mistyped here",
    );
  });

  it("refuses a long text that is no change in few words", async () => {
    for (const long of ["a".repeat(100_000), "A".repeat(100_000)])
      for (const [tool, params] of [
        ["undo", { change: long }],
        ["undo", { since: long }],
        ["list_changes", { before: long }],
      ] as const) {
        const [first = ""] = await server.refuses(tool, params);
        expect(first).toMatch(/^not_found: there is no change|is neither a time nor a change$/);
        expect(first.length).toBeLessThan(200);
      }
  });

  it("say whose the last change of a path was, if undo takes it back for another connection", async () => {
    const other = await fixture.serve();
    await edit("5", "five");
    const id = await edit("15", "fifteen", other);
    const [, who] = /^\w+ · [^·]+ · edit_file · ([^·\n]+)\n/.exec(await server.says("list_changes")) ?? [];
    for (const dry_run of [true, false]) {
      const said = (await server.says("undo", { path: "a.txt", dry_run })).split("\n");
      expect(said[0]).toContain(`${id} (edit_file) in a.txt`);
      expect(said[1]).toMatch(/^\[made by .+, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\]$/);
      expect(said[1]).toContain(`[made by ${who}, `);
    }
    expect(await server.says("undo", { path: "a.txt" })).not.toContain("made by"); // its own
  });

  it("distinguishes one's own changes from others of the same name", async () => {
    const other = await fixture.serve();
    const first = await edit("5", "five");
    const second = await edit("15", "fifteen", other);
    const said = await server.says("list_changes", { limit: 2 });
    expect(said).toMatch(new RegExp(`^${second} · .* · edit_file · [^·]+ \\(\\w{6}\\)\\n`));
    expect(said).toMatch(new RegExp(`^${first} · .* · edit_file · you$`, "m"));
    expect(await server.says("list_changes", { mine: true })).not.toContain(second);
  });

  it("of a path name the files there, and count the others", async () => {
    for (const name of ["x.txt", "y.txt"]) fixture.write(name, "old\n");
    await server.says("replace_in_files", { paths: ["x.txt", "y.txt"], old: "old", new: "new" });
    const said = await server.says("list_changes", { path: "x.txt" });
    expect(said).toContain("  M x.txt +1 -1\n  [1 more file]");
    expect(said).not.toContain("y.txt");
  });

  it("with another client's changes in between say so in the diff", async () => {
    await edit("5", "five");
    await edit("15", "fifteen");
    const params = { since: "start", diff: true };
    expect(await server.says("list_changes", params)).toContain("M a.txt +2 -2\n");
    fixture.write("a.txt", fixture.read("a.txt").replace("\n25\n", "\nperson\n"));
    await edit("35", "thirty-five");
    expect(await server.says("list_changes", params)).toContain(
      "M a.txt +4 -4 (with other changes of it in between)",
    );
  });

  it("since a change, a time, or the start of this connection, with what it comes to", async () => {
    const first = await edit("5", "five");
    const second = await edit("five", "5");
    const third = await edit("15", "fifteen");
    const after = await server.says("list_changes", { since: first });
    expect(after).toContain(second);
    expect(after).not.toMatch(new RegExp(`^${first}`, "m"));
    const diff = await server.says("list_changes", { since: "start", diff: true });
    expect(diff).toMatch(new RegExp(`^${first}`, "m"));
    expect(diff).toContain("[net difference of these 3 changes]\nM a.txt +1 -1\n[1] @@ -13,5 +13,5 @@");
    expect(await server.says("list_changes", { since: "1h" })).toContain(third);
    expect(await server.says("list_changes", { since: "0s" })).toBe("[no changes]");
    const elsewhere = await fixture.serve({ env: { TZ: "Asia/Tokyo" } });
    const [, time] = /^\w+ · (\S+ \S+) · /.exec(await elsewhere.says("list_changes", { limit: 1 })) ?? [];
    expect(await elsewhere.says("list_changes", { since: time })).toContain(third);
    for (const since of ["soon", "banana", "yesterday"])
      expect(await server.refuses("list_changes", { since })).toEqual([
        `invalid_input: "${since}" is neither a time nor a change`,
        "Send a change's id, 30m, 2h, 1d, a time as list_changes shows it (UTC), or start.",
      ]);
  });
});
