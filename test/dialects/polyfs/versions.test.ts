// Versions, merging and undo: no concurrent change is lost, and every change can be undone.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { changeIn, Fixture, numbered, type Server, versionIn } from "./fixture.ts";

let fixture: Fixture;
let server: Server;
beforeAll(async () => {
  fixture = new Fixture();
  server = await fixture.serve();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(() => fixture.reset({ "a.txt": numbered(20) }));

const line = (n: number, text: string) => ({ start_line: n, end_line: n, new: text });

describe("if_version", () => {
  it("merges an edit into concurrent changes", async () => {
    const version = await server.version("a.txt");
    fixture.write("a.txt", `top\n${numbered(20).replace("18\n", "eighteen\n")}`);
    const said = await server.says("edit_file", {
      path: "a.txt",
      if_version: version,
      edits: [line(5, "five")],
    });
    expect(said).toContain("\n[merged with changes made since that version] +2 -1 at lines 1, 19\n");
    expect(fixture.read("a.txt")).toBe(
      `top\n${numbered(20).replace("18\n", "eighteen\n").replace("\n5\n", "\nfive\n")}`,
    );
    expect(await server.version("a.txt")).toBe(versionIn(said));
  });

  it("refuses only a true overlap, shows the current lines and version, and loses nothing", async () => {
    const version = await server.version("a.txt");
    fixture.write("a.txt", numbered(20).replace("\n5\n", "\nFIVE\n"));
    const lines = await server.refuses("edit_file", {
      path: "a.txt",
      if_version: version,
      edits: [line(5, "five")],
    });
    expect(lines[0]).toBe(`stale: a.txt has changed since then; it is now ${await server.version("a.txt")}`);
    expect(lines[1]).toMatch(/^The same lines were changed, or adjoining ones \(edits\[0\]\)/);
    expect(lines.slice(2)).toEqual(["3: 3", "4: 4", "5: FIVE", "6: 6", "7: 7"]);
    expect(fixture.read("a.txt")).toBe(numbered(20).replace("\n5\n", "\nFIVE\n"));
  });

  it("does not say that a file has changed for a version that it never had, and refuses what is none", async () => {
    const edit = (if_version: string) =>
      server.refuses("edit_file", { path: "a.txt", if_version, edits: [line(5, "five")] });
    expect((await edit("v:123456789abc"))[0]).toBe(
      `stale: a.txt is not that version, but ${await server.version("a.txt")}`,
    );
    for (const none of ["latest", "", "v:1234", "v:123456789ABC"])
      expect((await edit(none))[0]).toBe(
        `invalid_input: if_version is not a version: ${JSON.stringify(none)}`,
      );
    for (const [tool, how] of Object.entries({
      write_file: { path: "a.txt", content: "" },
      delete_path: { path: "a.txt" },
      move_path: { from: "a.txt", to: "b.txt" },
    }))
      expect((await server.refuses(tool, { ...how, if_version: "latest" }))[0]).toMatch(
        /^invalid_input: if_version/,
      );
    expect(fixture.read("a.txt")).toBe(numbered(20));
  });

  it("holds for versions from a search or an edit, with or without its prefix", async () => {
    const found = versionIn(await server.says("search_text", { pattern: "^7$" }));
    const edited = versionIn(await server.says("edit_file", { path: "a.txt", edits: [line(1, "eins")] }));
    await server.says("edit_file", { path: "a.txt", if_version: found, edits: [line(10, "zehn")] });
    await server.says("edit_file", {
      path: "a.txt",
      if_version: edited.slice(2),
      edits: [line(20, "zwanzig")],
    });
    expect(fixture.read("a.txt")).toBe(
      numbered(20).replace("1\n", "eins\n").replace("\n10\n", "\nzehn\n").replace("\n20\n", "\nzwanzig\n"),
    );
  });

  it("merges a whole file that is written, too, and what is appended", async () => {
    const version = await server.version("a.txt");
    fixture.write("a.txt", numbered(20).replace("\n18\n", "\neighteen\n"));
    const content = numbered(20).replace("\n2\n", "\ntwo\n");
    expect(await server.says("write_file", { path: "a.txt", content, if_version: version })).toContain(
      "[merged with",
    );
    expect(fixture.read("a.txt")).toBe(content.replace("\n18\n", "\neighteen\n"));
    await server.says("write_file", { path: "a.txt", content: "end\n", mode: "append", if_version: version });
    expect(fixture.read("a.txt")).toBe(`${content.replace("\n18\n", "\neighteen\n")}end\n`);
  });

  it("is refused if that version is unknown, or the file no longer exists", async () => {
    const edits = [line(1, "x")];
    expect(
      (await server.refuses("edit_file", { path: "a.txt", if_version: "v:000000000000", edits }))[0],
    ).toMatch(/^stale: /);
    const version = await server.version("a.txt");
    await server.says("delete_path", { path: "a.txt" });
    expect(
      (await server.refuses("write_file", { path: "a.txt", content: "", if_version: version }))[0],
    ).toMatch(/^not_found: /);
  });

  it("from an earlier process is still valid", async () => {
    const first = await fixture.serve();
    const version = await first.version("a.txt");
    await first.wire.close();
    fixture.write("a.txt", `${numbered(20)}end\n`);
    await server.says("edit_file", { path: "a.txt", if_version: version, edits: [line(1, "one")] });
    expect(fixture.read("a.txt")).toBe(`${numbered(20).replace("1\n", "one\n")}end\n`);
  });

  it("lets ten processes edit different lines of one file, all with the version that they read at the start", async () => {
    fixture.write("a.txt", numbered(100));
    const servers = await Promise.all(Array.from({ length: 10 }, () => fixture.serve()));
    const versions = await Promise.all(servers.map(one => one.version("a.txt")));
    await Promise.all(
      servers.map((one, i) =>
        one.says("edit_file", {
          path: "a.txt",
          if_version: versions[i],
          edits: [line(10 * i + 5, `agent ${i}\nmore`)],
        }),
      ),
    );
    const lines = fixture.read("a.txt").split("\n");
    expect(lines).toHaveLength(111);
    for (let i = 0; i < 10; i++) expect(lines).toContain(`agent ${i}`);
    await Promise.all(servers.map(one => one.wire.close()));
  });
});

describe("since", () => {
  it("answers `unchanged`, or the difference", async () => {
    const version = await server.version("a.txt");
    expect((await server.says("read_file", { path: "a.txt", since: version })).split("\n")).toEqual([
      expect.stringContaining(version),
      "unchanged",
    ]);
    fixture.write("a.txt", numbered(20).replace("\n5\n", "\nfive\n"));
    const said = await server.says("read_file", { path: "a.txt", since: version });
    expect(said.split("\n").slice(1)).toEqual(["@@ -3,5 +3,5 @@", " 3", " 4", "-5", "+five", " 6", " 7"]);
  });

  it("answers with the file if that version is unknown", async () => {
    const said = await server.says("read_file", { path: "a.txt", since: "v:000000000000" });
    expect(said).toMatch(/\n\[v:000000000000 is no longer known; this is the whole file\]\n1: 1\n/);
  });
});

describe("list_changes and undo", () => {
  it("list the newest first, each beginning with its id, with tool, client and files", async () => {
    await server.says("write_file", { path: "b.txt", content: "b\n" });
    await server.says("edit_file", { path: "a.txt", edits: [line(1, "eins\nuno")] });
    const said = await server.says("list_changes", { limit: 2 });
    expect(said).toMatch(
      /^\w+ · \d{4}-\d\d-\d\d \d\d:\d\d:\d\d · edit_file · you\n {2}M a\.txt \+2 -1\n\w+ · [^\n]* · write_file · you\n {2}A b\.txt \+1 -0\n\[there are more: before=\w+\]$/,
    );
    const before = /before=(\w+)/.exec(said)?.[1];
    const next = await server.says("list_changes", { limit: 1, before });
    expect(next).not.toContain(before);
    const ofB = await server.says("list_changes", { path: "b.txt", limit: 1 });
    expect(ofB).toContain("A b.txt");
    expect(ofB).not.toContain("a.txt");
  });

  it("undo the last change, and an undo where it is named", async () => {
    await server.says("edit_file", { path: "a.txt", edits: [line(1, "eins")] });
    const undone = await server.says("undo");
    expect(undone).toMatch(
      /^undid \w+ \(edit_file\)\nchanged back a\.txt · v:\w+\n@@[\s\S]*-eins\n\+1\n[\s\S]*change (\w+) \(undo with change: "\1" redoes it\)$/,
    );
    expect(fixture.read("a.txt")).toBe(numbered(20));
    await server.says("undo", { change: changeIn(undone) });
    expect(fixture.read("a.txt")).toBe(numbered(20).replace("1\n", "eins\n"));
    expect(await server.says("list_changes", { limit: 1 })).toMatch(/ · undo · you · undoes \w+\n/);
  });

  it("undo an older change, and later edits elsewhere stay; an overlap is refused", async () => {
    await server.says("edit_file", { path: "a.txt", edits: [line(2, "zwei")] });
    const id = /^\w+/.exec(await server.says("list_changes", { limit: 1 }))?.[0];
    await server.says("edit_file", { path: "a.txt", edits: [line(15, "fuenfzehn")] });
    const only = await server.says("undo", { change: id, dry_run: true });
    expect(only).toMatch(/^would undo /);
    expect(only).toMatch(/\[dry run: nothing was written\]$/);
    expect(fixture.read("a.txt")).toContain("zwei");
    await server.says("undo", { change: id });
    expect(fixture.read("a.txt")).toBe(numbered(20).replace("\n15\n", "\nfuenfzehn\n"));
    await server.says("edit_file", { path: "a.txt", edits: [line(15, "other")] });
    const second = (await server.says("list_changes", { path: "a.txt", limit: 20 }))
      .split("\n")
      .filter(text => text.includes("edit_file"))[1];
    const lines = await server.refuses("undo", { change: /^\w+/.exec(second ?? "")?.[0] });
    expect(lines[0]).toMatch(/^stale: /);
    expect(fixture.read("a.txt")).toContain("other");
  });

  it("undo what a change did to one path only", async () => {
    fixture.write("b.txt", "foo\n");
    fixture.write("c.txt", "foo\n");
    const said = await server.says("replace_in_files", { paths: ["*.txt"], old: "foo", new: "bar" });
    await server.says("undo", { change: changeIn(said), path: "b.txt" });
    expect([fixture.read("b.txt"), fixture.read("c.txt")]).toEqual(["foo\n", "bar\n"]);
    await server.says("write_file", { path: "z.txt", content: "z" });
    await server.says("undo", { path: "c.txt" });
    expect([fixture.read("c.txt"), fixture.has("z.txt")]).toEqual(["foo\n", true]);
  });

  it("survive a restart, and unknown ones are refused", async () => {
    await server.says("delete_path", { path: "a.txt" });
    const other = await fixture.serve();
    await other.says("undo");
    expect(fixture.read("a.txt")).toBe(numbered(20));
    expect((await server.refuses("undo", { change: "nosuchchange" }))[0]).toMatch(
      /^not_found: there is no change nosuchchange/,
    );
  });
});
