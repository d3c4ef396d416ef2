// Undo of several changes together, of paths, and of hunks.
import { chmodSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
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

describe("undo of several changes", () => {
  it("of something that was moved since is refused, and not answered with nothing to undo", async () => {
    const made = changeIn(await server.says("write_file", { path: "sub/new.txt", content: "n\n" }));
    const copied = changeIn(await server.says("copy_path", { from: "b.txt", to: "sub/copy.txt" }));
    const moved = changeIn(await server.says("move_path", { from: "sub", to: "elsewhere" }));
    for (const [change, path] of Object.entries({ [made]: "sub/new.txt", [copied]: "sub/copy.txt" })) {
      const lines = await server.refuses("undo", { change });
      expect(lines[0]).toBe(`not_found: ${path} does not exist`);
      expect(lines[1]).toContain("moved or deleted later");
    }
    expect(fixture.read("elsewhere/copy.txt")).toBe("b\n");
    const all = { changes: [made, copied, moved] };
    expect(await server.says("undo", { ...all, dry_run: true })).toContain(
      `undone first: ${copied}, ${made}]`,
    );
    expect(await server.says("undo", all)).toMatch(/^undid 3 changes/);
    expect(readdirSync(fixture.root).sort()).toEqual(["a.txt", "b.txt"]);
  });

  it("of something that was deleted since has nothing left to do", async () => {
    const made = changeIn(await server.says("write_file", { path: "new.txt", content: "n\n" }));
    await server.says("move_path", { from: "new.txt", to: "newer.txt" });
    await server.says("delete_path", { path: "newer.txt" });
    expect(await server.says("undo", { change: made })).toMatch(/^nothing left of /);
  });

  it("by their ids, or all of the caller's own since one: all or none", async () => {
    const other = await fixture.serve();
    const first = await edit("5", "five");
    await edit("15", "fifteen");
    await edit("25", "twenty-five", other);
    await edit("35", "thirty-five");
    const said = await server.says("undo", { since: first });
    expect(said).toMatch(/^undid 2 changes: \w+, \w+\n/);
    expect(fixture.read("a.txt")).toBe(
      numbered(40).replace("\n5\n", "\nfive\n").replace("\n25\n", "\ntwenty-five\n"),
    );
    const ids = [await edit("10", "ten"), await edit("30", "thirty")];
    await edit("ten", "TEN", other);
    const before = fixture.read("a.txt");
    expect((await server.refuses("undo", { changes: ids }))[0]).toMatch(/^stale/);
    expect(fixture.read("a.txt")).toBe(before);
  });

  it("in a dry run does not refuse what later changes are in the way of, since they are undone first", async () => {
    const start = await edit("5", "five");
    const again = await edit("five", "FIVE");
    const other = await edit("25", "twenty-five");
    await server.says("move_path", { from: "a.txt", to: "c.txt" });
    await server.says("delete_path", { path: "c.txt" });
    const dry = await server.says("undo", { since: start, dry_run: true });
    expect(dry).toMatch(/^would undo 4 changes: /);
    expect(dry).toContain("restored c.txt");
    const follows = /^\[not shown, because later changes of the same files are undone first: (.*)\]$/m;
    expect(follows.exec(dry)?.[1]?.split(", ")).toEqual(expect.arrayContaining([other, again]));
    expect(await server.says("undo", { since: start })).toContain("restored c.txt");
    expect(fixture.read("a.txt")).toBe(numbered(40).replace("\n5\n", "\nfive\n"));
  });

  it("shows in a dry run what it then does, also where several changes touch the same lines", async () => {
    const start = await edit("5", "five");
    await edit("five", "FIVE");
    await edit("25", "twenty-five");
    await edit("FIVE", "Five!");
    await server.says("write_file", { path: "new.txt", content: "one\n" });
    await server.says("edit_file", { path: "new.txt", edits: [{ old: "one", new: "two" }] });
    await server.says("delete_path", { path: "new.txt" });
    const body = (said: string) =>
      said.split("\n").filter(line => !/^(would undo|undid|\[|changes? \w+)/.test(line));
    const dry = await server.says("undo", { since: start, dry_run: true });
    expect(dry).not.toContain("not shown");
    const real = await server.says("undo", { since: start });
    expect(body(dry)).toEqual(body(real));
    expect(body(real)).toHaveLength(6);
    expect(fixture.read("a.txt")).toBe(numbered(40).replace("\n5\n", "\nfive\n"));
    expect(fixture.has("new.txt")).toBe(false);
  });

  it("in a dry run refuses what is refused later", async () => {
    const ids = [await edit("5", "five"), await edit("25", "twenty-five")];
    fixture.write("a.txt", fixture.read("a.txt").replace("five\n", "by hand\n"));
    const elsewhere = changeIn(await server.says("write_file", { path: "d.txt", content: "d\n" }));
    for (const dry_run of [true, false])
      expect((await server.refuses("undo", { changes: [ids[0], elsewhere], dry_run }))[0]).toMatch(
        /^stale: a\.txt /,
      );
    expect(fixture.read("d.txt")).toBe("d\n");
  });

  it("is refused with the path as it is printed, and the advice to undo the later changes too", async () => {
    const first = await edit("5", "five");
    const second = await edit("five", "FIVE");
    const stale = await server.refuses("undo", { change: first });
    expect(stale[0]).toMatch(/^stale: a\.txt has changed since then/);
    expect(stale[1]).toMatch(
      /^A later change touched the same lines, or adjoining ones\. Undo that too: changes /,
    );
    expect(stale).toContain("5: FIVE");
    await server.says("move_path", { from: "a.txt", to: "c.txt" });
    const moved = await server.refuses("undo", { change: second });
    expect(moved[0]).toBe("not_found: a.txt does not exist");
    expect(moved[1]).toMatch(/^It was moved or deleted later\. Undo that too: changes /);
  });

  it("of what was changed outside of polyfs says so, and not that a later change is listed", async () => {
    const change = changeIn(
      await server.says("replace_in_files", {
        paths: ["a.txt", "b.txt"],
        old: "^(5|b)$",
        new: "x",
        match: "regex",
      }),
    );
    writeFileSync(join(fixture.root, "a.txt"), fixture.read("a.txt").replace("\nx\n", "\noutside\n"));
    for (const params of [{}, { since: "start" }]) {
      const stale = await server.refuses("undo", params);
      expect(stale[0]).toMatch(/^stale: a\.txt has changed since then/);
      expect(stale[1]).toBe(
        "It was changed outside of polyfs, so no change is listed for it. undo with path undoes the other files of the change. Or edit the current lines:",
      );
      expect(stale).toContain("5: outside");
    }
    rmSync(join(fixture.root, "a.txt"));
    for (const params of [{ change }, { since: "start" }]) {
      const gone = await server.refuses("undo", params);
      expect(gone[0]).toBe("not_found: a.txt does not exist");
      expect(gone[1]).toBe(
        "It was moved or deleted outside of polyfs, so no change is listed for it. undo with path undoes the other files of the change.",
      );
    }
    expect(await server.says("undo", { path: "b.txt" })).toContain("changed back b.txt");
  });

  it("a second time says that nothing is left of it, as a whole or by hunk", async () => {
    const first = await edit("5", "five");
    const second = await edit("25", "twenty-five");
    const nothing = "[nothing to undo: everything is as it was before]";
    for (const params of [{ change: first }, { change: second, hunks: [1] }]) {
      expect(await server.says("undo", params)).not.toContain(nothing);
      const again = await server.says("undo", params);
      expect(again).toContain(nothing);
      expect(again).toMatch(/^nothing left of /);
      expect(again).not.toContain("changed back");
    }
    expect(fixture.read("a.txt")).toBe(numbered(40));
  });

  it("by hunk, with the numbers of the diff", async () => {
    const edits = ["5", "15", "25"].map(old => ({ old: `\n${old}\n`, new: `\n${old}!\n` }));
    const id = changeIn(await server.says("edit_file", { path: "a.txt", edits }));
    await edit("35", "later");
    expect(await server.says("list_changes", { path: "a.txt", since: "start", diff: true })).toContain(
      "[2] @@ -13,5",
    );
    const tried = await server.says("undo", { change: id, hunks: [2], dry_run: true });
    expect(tried).toContain("would undo 1 hunk of");
    const inPath = await server.says("undo", { change: id, path: "a.txt", dry_run: true });
    expect(inPath).toContain(`would undo ${id} (edit_file) in a.txt\n`);
    await server.says("undo", { change: id, hunks: [1, 3] });
    const left = numbered(40).replace("\n15\n", "\n15!\n").replace("\n35\n", "\nlater\n");
    expect(fixture.read("a.txt")).toBe(left);
    expect((await server.refuses("undo", { change: id, hunks: [4] }))[0]).toMatch(
      /^invalid_input: there is no hunk 4/,
    );
    await edit("15!", "fifteen!");
    expect((await server.refuses("undo", { change: id, hunks: [2] }))[0]).toMatch(/^stale/);
  });

  it("by the hunk of a deletion, which restores the file with its mode and its time", async () => {
    const path = join(fixture.root, "b.txt");
    chmodSync(path, 0o700);
    utimesSync(path, 1_700_000_000, 1_700_000_000); // Node sets fractions of a second inexactly
    const { mode, mtimeMs } = statSync(path);
    await server.says("delete_path", { path: "b.txt" });
    await server.says("undo", { hunks: [1] });
    expect(fixture.read("b.txt")).toBe("b\n");
    const now = statSync(path);
    expect([now.mode.toString(8), now.mtimeMs]).toEqual([mode.toString(8), mtimeMs]);
  });

  it("by hunk of one file: the diff shows that file alone, and a number of another file is refused", async () => {
    for (const [name, text] of [
      ["p.txt", numbered(40)],
      ["q.txt", "b\n"],
      ["r.txt", ""],
    ] as const)
      fixture.write(name, text);
    const edits = ["5", "15", "25"].map(old => `-${old}\n+${old}!`);
    const hunks = edits.map((lines, i) => `@@ -${5 + i * 10} +${5 + i * 10} @@\n${lines}\n`).join("");
    const patch = `--- a/p.txt\n+++ b/p.txt\n${hunks}--- a/q.txt\n+++ b/q.txt\n@@ -1 +1 @@\n-b\n+B\n`;
    const id = changeIn(await server.says("apply_patch", { patch }));
    const diff = await server.says("list_changes", { path: "q.txt", diff: true });
    expect(diff).toContain("[4] @@ -1 +1 @@");
    expect(diff).not.toContain("15!");
    const [problem, advice] = await server.refuses("undo", { path: "q.txt", hunks: [1] });
    expect(problem).toBe("invalid_input: hunk 1 is not in q.txt: its only one is 4; nothing was undone");
    expect(advice).toContain("list_changes");
    expect((await server.refuses("undo", { change: id, path: "p.txt", hunks: [2, 4] }))[0]).toContain(
      "hunk 4 is not in p.txt: its hunks are 1 to 3",
    );
    expect((await server.refuses("undo", { change: id, path: "r.txt", hunks: [1] }))[0]).toContain(
      "the change has no hunks there",
    );
    expect(fixture.read("p.txt")).toContain("15!");
    await server.says("undo", { path: "q.txt", hunks: [4] });
    expect(fixture.read("q.txt")).toBe("b\n");
    await server.says("undo", { change: id, path: "p.txt", hunks: [2] });
    expect(fixture.read("p.txt")).toBe(numbered(40).replace("\n5\n", "\n5!\n").replace("\n25\n", "\n25!\n"));
  });

  it("in many files is summarised", async () => {
    const names = Array.from({ length: 60 }, (_, i) => `many/${i}.txt`);
    for (const name of names) fixture.write(name, "old\n");
    await server.says("replace_in_files", { paths: ["many"], old: "old", new: "new" });
    const said = await server.says("undo");
    expect(said.split("\n").length).toBeLessThan(30);
    expect(said).toContain("[40 more paths: 40 changed back]");
    for (const name of names) expect(fixture.read(name)).toBe("old\n");
  });
});

describe("undo with a path", () => {
  it("goes back one change of that path each time, whichever client made it", async () => {
    const other = await fixture.serve();
    for (const content of ["1\n", "2\n", "3\n"]) await server.says("write_file", { path: "b.txt", content });
    await other.says("write_file", { path: "a.txt", content: "a\n" });
    const seen: string[] = [];
    for (let i = 0; i < 3; i++) {
      await other.says("undo", { path: "b.txt" });
      seen.push(fixture.read("b.txt"));
    }
    expect(seen).toEqual(["2\n", "1\n", "b\n"]);
    expect(await other.refuses("undo", { path: "b.txt" })).toContain("not_found: there is no change to undo");
    expect(fixture.read("a.txt")).toBe("a\n");
  });

  it("inside a directory that was deleted as a whole says that it cannot be undone alone", async () => {
    await server.says("write_file", { path: "d/x.txt", content: "x\n" });
    const change = changeIn(await server.says("delete_path", { path: "d", recursive: true }));
    const refusal = await server.refuses("undo", { change, path: "d/x.txt" });
    expect(refusal[0]).toBe(`not_found: ${change} has no separate change of d/x.txt`);
    expect(await server.refuses("undo", { path: "d/x.txt" })).toEqual(refusal);
    await server.says("undo");
    expect(await server.says("undo", { path: "d/x.txt" })).toContain("removed d/x.txt");
  });

  it("and since undoes only changes of that path", async () => {
    await server.says("write_file", { path: "b.txt", content: "1\n" });
    await server.says("write_file", { path: "a.txt", content: "a\n" });
    await server.says("write_file", { path: "b.txt", content: "2\n" });
    await server.says("undo", { since: "start", path: "b.txt" });
    expect([fixture.read("a.txt"), fixture.read("b.txt")]).toEqual(["a\n", "b\n"]);
  });
});

describe("hunks without a change", () => {
  it("are those of the diff that was shown last, however many changes it covers", async () => {
    await edit("2", "two");
    await server.says("edit_file", {
      path: "a.txt",
      edits: [
        { old: "\n20\n", new: "\ntwenty\n" },
        { old: "\n30\n", new: "\nthirty\n" },
      ],
    });
    expect(await server.says("list_changes", { diff: true, since: "start" })).toContain("[3] @@");
    await server.says("undo", { hunks: [1] });
    expect(fixture.read("a.txt")).not.toContain("two\n");
    expect(fixture.read("a.txt")).toContain("twenty");
    await server.says("undo", { hunks: [3] });
    expect(fixture.read("a.txt")).not.toContain("thirty");
    expect(fixture.read("a.txt")).toContain("twenty");
  });

  it("are those of the diff also where it shows only changes before the last one", async () => {
    const first = await edit("2", "two");
    await server.says("write_file", { path: "b.txt", content: "changed\n" });
    expect(await server.says("list_changes", { diff: true, path: "a.txt" })).toContain(first);
    await server.says("undo", { hunks: [1] });
    expect([fixture.read("a.txt"), fixture.read("b.txt")]).toEqual([numbered(40), "changed\n"]);
  });

  it("are those of the last change, where something was changed since the diff", async () => {
    await edit("2", "two");
    await server.says("list_changes", { diff: true, since: "start" });
    await edit("20", "twenty");
    await server.says("undo", { hunks: [1] });
    expect(fixture.read("a.txt")).toContain("two\n");
    expect(fixture.read("a.txt")).not.toContain("twenty");
  });
});

describe("a change that was undone by its path", () => {
  it("is passed over by the next undo, and by one of everything since", async () => {
    await server.says("write_file", { path: "u.txt", content: "u\n" });
    await server.says("edit_file", { path: "u.txt", edits: [{ old: "u", new: "v" }] });
    await server.says("undo", { path: "u.txt" });
    expect(fixture.read("u.txt")).toBe("u\n");
    await server.says("undo");
    expect((await server.refuses("read_file", { path: "u.txt" }))[0]).toMatch(/^not_found/);
    await edit("2", "two");
    await server.says("undo", { since: "start" });
    expect(fixture.read("a.txt")).not.toContain("two\n");
  });
});

it("a move that was undone is not part of the net difference", async () => {
  await server.says("move_path", { from: "b.txt", to: "c.txt" });
  await server.says("edit_file", { path: "c.txt", edits: [{ old: "b", new: "changed" }] });
  await server.says("move_path", { from: "c.txt", to: "b.txt" });
  const lines = await server.says("list_changes", { diff: true, since: "start" });
  expect(lines).toContain("M b.txt +1 -1");
  await server.says("undo", { since: "start" });
  expect(await server.says("list_changes", { diff: true, since: "start" })).not.toContain("b.txt -> b.txt");
});
