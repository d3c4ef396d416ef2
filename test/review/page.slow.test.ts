// The review page's API, asked as a browser asks it, while agents work through servers of their own.
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ChangeSummary, FileDifference, Hunk } from "../../src/review/api.ts";
import { Fixture, type Page } from "./fixture.ts";

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `line ${i + 1}\n`).join("");

describe("what agents changed", () => {
  it("is listed by task, with the agent's name, newest first, page by page", async () => {
    const fixture = new Fixture();
    const [one, other] = [await fixture.agent("alpha"), await fixture.agent("beta")];
    const first = await one.change("write_file", { path: "a.txt", content: "a\n" });
    const second = await other.change("write_file", { path: "b.txt", content: "b\n" });
    const third = await one.change("write_file", { path: "a.txt", content: "a\nb\n" });
    const page = await fixture.page(fixture.root);
    const { tasks } = (await page.get("api/tasks")).json;
    expect(tasks.map((task: { changes: string[] }) => task.changes)).toEqual([[third, first], [second]]);
    expect(tasks[0]).toMatchObject({ agent: { client: expect.stringContaining("alpha") }, changeCount: 2 });
    const all = (await page.get("api/changes?limit=2")).json;
    expect(all.changes.map(({ id }: ChangeSummary) => id)).toEqual([third, second]);
    const rest = (await page.get(`api/changes?limit=2&before=${all.next}`)).json;
    expect(rest.changes.map(({ id }: ChangeSummary) => id)).toEqual([first]);
    expect(rest.next).toBeUndefined();
    const ids = async (query: string) =>
      (await page.get(`api/changes?${query}`)).json.changes.map(({ id }: ChangeSummary) => id);
    expect(await ids("path=b.txt")).toEqual([second]);
    expect(await ids("path=*.txt&tool=write_file")).toEqual([third, second, first]);
    expect(await ids(`agent=${encodeURIComponent(tasks[1].agent.client)}`)).toEqual([second]);
    expect(await ids(`since=${Date.now() + 60_000}`)).toEqual([]);
    expect(await ids(`task=${first}`)).toEqual([third, first]);
    const pageOne = (await page.get("api/tasks?limit=1")).json;
    const pageTwo = (await page.get(`api/tasks?limit=1&before=${pageOne.next}`)).json;
    expect([pageOne.tasks[0].id, pageTwo.tasks[0].id, pageTwo.next]).toEqual([first, second, undefined]);
    const facets = (await page.get("api/facets")).json;
    expect(facets.tools).toEqual([{ value: "write_file", count: 3 }]);
  });

  it("covers all servers of the user, or only the named directory", async () => {
    const fixture = new Fixture();
    const elsewhere = join(fixture.base, "other");
    mkdirSync(elsewhere);
    const page = await fixture.page(fixture.root);
    const everything = await fixture.page();
    const agent = await fixture.agent("far", [elsewhere]);
    const stream = await everything.events();
    const id = await agent.change("write_file", { path: "x.txt", content: "x\n" });
    expect((await stream.next("change")).data.id).toBe(id);
    expect((await everything.get(`api/changes/${id}`)).status).toBe(200);
    expect((await page.get("api/changes")).json.changes).toEqual([]);
    expect((await page.get(`api/changes/${id}`)).status).toBe(404);
    const undone = await everything.post("api/undo", { change: id });
    expect(undone.json).toMatchObject({ done: true });
    // Also for a page that is opened when the server has ended.
    await agent.client.close();
    const later = await fixture.page();
    expect((await later.get("api/changes")).json.changes).toHaveLength(2);
  });

  it("is sent as an event, and again to a browser that was disconnected for a moment", async () => {
    const fixture = new Fixture();
    const agent = await fixture.agent();
    const page = await fixture.page(fixture.root);
    const stream = await page.events();
    const first = await agent.change("write_file", { path: "a.txt", content: "a\n" });
    const seen = await stream.next("change");
    expect(seen.data).toMatchObject({ id: first, tool: "write_file", files: [{ name: "a.txt", added: 1 }] });
    stream.close();
    const second = await agent.change("write_file", { path: "b.txt", content: "b\n" });
    const again = await page.events(seen.id);
    expect((await again.next("change")).data.id).toBe(second);
    const stranger = await page.events("0000-1");
    await stranger.next("resync");
  });

  it("is shown with hunks and colours; a binary, a large file and a link in short form", async () => {
    const fixture = new Fixture();
    fixture.write("code.ts", `// one\n${numbered(40)}`);
    fixture.write("old.bin", Buffer.from([0, 1, 2, 255]));
    symlinkSync("code.ts", join(fixture.root, "link"));
    fixture.write("dir/inside.txt", "inside\n");
    const agent = await fixture.agent();
    const id = await agent.change("write_file", {
      path: "code.ts",
      content: `const x = "y"; // two\n${numbered(40)}more\n`,
    });
    const page = await fixture.page(fixture.root);
    const { difference } = (await page.get(`api/changes/${id}`)).json;
    const [file] = difference.files;
    expect(file).toMatchObject({
      name: "code.ts",
      shows: "text",
      language: "typescript",
      added: 2,
      removed: 1,
    });
    expect(file.hunks.map(({ number }: { number: number }) => number)).toEqual([1, 2]);
    expect(file.hunks[0].text).toMatch(/^@@ -1,3 \+1,3 @@\n-\/\/ one\n\+const x = "y"; \/\/ two\n line 1/);
    expect(file.hunks[0].spans[1]).toEqual([
      [0, 5, "keyword"],
      [8, 9, "operator"],
      [10, 13, "string"],
      [15, 21, "comment"],
    ]);
    const show = async (tool: string, params: Record<string, unknown>): Promise<FileDifference[]> => {
      const change = await agent.change(tool, params);
      await expect.poll(async () => (await page.get(`api/changes/${change}`)).status).toBe(200);
      return (await page.get(`api/changes/${change}`)).json.difference.files;
    };
    expect(await show("delete_path", { path: "old.bin" })).toMatchObject([{ shows: "binary", hunks: [] }]);
    expect(await show("delete_path", { path: "link" })).toMatchObject([
      { shows: "entry", about: "link to code.ts" },
    ]);
    expect(await show("write_file", { path: "large.txt", content: "x".repeat(3_000_000) })).toMatchObject([
      { shows: "large", hunks: [] },
    ]);
    expect(await show("move_path", { from: "code.ts", to: "moved.ts" })).toMatchObject([
      { effect: "moved", from: "code.ts", shows: "moved" },
    ]);
    expect(await show("delete_path", { path: "dir", recursive: true })).toMatchObject([
      { name: "dir", shows: "entry" },
      { name: "dir/inside.txt", effect: "removed", hunks: [{ text: "@@ -1 +0,0 @@\n-inside" }] },
    ]);
  });

  it("is compared from the start of the task to now, later changes by other programs included", async () => {
    const fixture = new Fixture();
    fixture.write("a.txt", "one\ntwo\n");
    const agent = await fixture.agent();
    const id = await agent.change("write_file", { path: "a.txt", content: "one\nTWO\n" });
    fixture.write("a.txt", "one\nTWO\nby hand\n");
    const page = await fixture.page(fixture.root);
    const task = (await page.get(`api/tasks/${id}`)).json.difference.files[0];
    const now = (await page.get(`api/tasks/${id}?until=now`)).json.difference.files[0];
    expect(task.hunks[0].text).toContain("+TWO");
    expect(task.hunks[0].text).not.toContain("by hand");
    expect(now.hunks[0].text).toContain("+TWO\n+by hand");
  });
});

describe("keep and undo", () => {
  it("undoes a hunk, a file, a task; each is a change of the client review that can be undone", async () => {
    const fixture = new Fixture();
    fixture.write("a.txt", numbered(30));
    const agent = await fixture.agent();
    const edit = await agent.change("edit_file", {
      path: "a.txt",
      edits: [
        { old: "line 3\n", new: "LINE 3\n" },
        { old: "line 25\n", new: "LINE 25\n" },
      ],
    });
    await agent.change("write_file", { path: "b.txt", content: "b\n" });
    const page = await fixture.page(fixture.root);
    const hunk = await page.post("api/undo", { change: edit, hunks: [1] });
    expect(hunk.json).toMatchObject({ done: true, files: [{ name: "a.txt", did: "changed back" }] });
    expect(fixture.read("a.txt")).toBe(numbered(30).replace("line 25\n", "LINE 25\n"));
    const [change] = hunk.json.changes;
    await expect.poll(async () => (await page.get(`api/changes/${change}`)).status).toBe(200);
    expect((await page.get(`api/changes/${change}`)).json.change).toMatchObject({
      agent: { client: "review" },
      undoes: edit,
    });
    expect((await page.get(`api/changes/${edit}`)).json.change.state).toBe("partly");
    expect((await page.post("api/undo", { change })).json.done).toBe(true);
    expect(fixture.read("a.txt")).toContain("LINE 3\n");
    const preview = await page.post("api/undo", { task: edit, preview: true });
    expect(preview.json).toMatchObject({ done: false, changes: [], collisions: [] });
    expect(preview.json.files.map(({ name, did }: { name: string; did: string }) => [name, did])).toEqual([
      ["a.txt", "changed back"],
      ["b.txt", "removed"],
    ]);
    expect(fixture.read("b.txt")).toBe("b\n");
    expect((await page.post("api/undo", { task: edit, path: join(fixture.root, "b.txt") })).json.done).toBe(
      true,
    );
    expect(() => fixture.read("b.txt")).toThrow();
    expect((await page.post("api/undo", { task: edit })).json.done).toBe(true);
    expect(fixture.read("a.txt")).toBe(numbered(30));
  });

  it("shows the conflicting edit, changes nothing, and can undo both together", async () => {
    const fixture = new Fixture();
    fixture.write("a.txt", numbered(9));
    const [one, other] = [await fixture.agent("one"), await fixture.agent("other")];
    const edit = await one.change("edit_file", { path: "a.txt", edits: [{ old: "line 5", new: "first" }] });
    const later = await other.change("edit_file", {
      path: "a.txt",
      edits: [{ old: "first", new: "second" }],
    });
    const page = await fixture.page(fixture.root);
    const preview = await page.post("api/undo", { change: edit, preview: true });
    const refused = await page.post("api/undo", { change: edit });
    expect([preview.status, refused.status]).toEqual([200, 409]);
    for (const { json } of [preview, refused]) {
      expect(json).toMatchObject({ done: false, collisions: [{ name: "a.txt", later: [{ id: later }] }] });
      expect(json.collisions[0].current).toContainEqual({ line: 5, text: "second" });
    }
    expect(fixture.read("a.txt")).toContain("second");
    expect((await page.post("api/undo", { changes: [edit, later] })).json.done).toBe(true);
    expect(fixture.read("a.txt")).toBe(numbered(9));
  });

  it("remembers what was kept, also for the next browser page", async () => {
    const fixture = new Fixture();
    const agent = await fixture.agent();
    const first = await agent.change("write_file", { path: "a.txt", content: "a\n" });
    const second = await agent.change("write_file", { path: "b.txt", content: "b\n" });
    const page = await fixture.page(fixture.root);
    const stream = await page.events();
    expect((await page.post("api/keep", { changes: [first], kept: true })).status).toBe(200);
    expect((await stream.next("kept")).data).toEqual({ changes: [first], kept: true });
    expect((await page.get(`api/changes/${first}`)).json.change.kept).toBe(true);
    await page.post("api/keep", { task: first, path: join(fixture.root, "b.txt"), kept: true });
    const other = await fixture.page(fixture.root);
    expect((await other.get(`api/changes/${second}`)).json.change.keptPaths).toEqual([
      join(fixture.root, "b.txt"),
    ]);
    await other.post("api/keep", { task: first, kept: true });
    expect((await page.get("api/tasks")).json.tasks[0].kept).toBe(true);
    await page.post("api/keep", { changes: [first], kept: false });
    expect((await other.get("api/tasks")).json.tasks[0].kept).toBe(false);
  });

  it("remembers kept hunks for every page, until the hunk is another one", async () => {
    const fixture = new Fixture();
    const path = fixture.write("a.txt", numbered(40));
    const agent = await fixture.agent();
    const edits = [5, 30].map(line => ({ old: `line ${line}\n`, new: `LINE ${line}\n` }));
    const change = await agent.change("edit_file", { path: "a.txt", edits });
    const page = await fixture.page(fixture.root);
    const hunksOf = async (of: Page, route: string) =>
      (await of.get(route)).json.difference.files[0].hunks.map(({ id, kept }: Hunk) => ({ id, kept }));
    const [first, second] = await hunksOf(page, `api/changes/${change}`);
    expect(first.id).not.toBe(second.id);
    const other = await fixture.page(fixture.root);
    const stream = await other.events();
    const mark = { changes: [change], path, hunks: [first.id], kept: true };
    expect((await page.post("api/keep", mark)).json).toEqual(mark);
    expect((await stream.next("kept")).data).toEqual(mark);
    const marked = [{ id: first.id, kept: true }, { id: second.id }];
    expect(await hunksOf(other, `api/changes/${change}`)).toEqual(marked);
    await fixture.end();
    const next = await fixture.page(fixture.root);
    expect(await hunksOf(next, `api/tasks/${change}`)).toEqual(marked);
    expect((await next.get(`api/changes/${change}`)).json.change.kept).toBe(false);
    await agent.change("edit_file", { path: "a.txt", edits: [{ old: "LINE 5\n", new: "LiNE 5\n" }] });
    await expect
      .poll(async () => (await hunksOf(next, `api/tasks/${change}`)).map(({ kept }: Hunk) => kept))
      .toEqual([undefined, undefined]);
    await next.post("api/keep", { ...mark, kept: false });
    expect(await hunksOf(next, `api/changes/${change}`)).toEqual([{ id: first.id }, { id: second.id }]);
  });

  it("says of no path that it was undone if it is not a file of the change", async () => {
    const fixture = new Fixture();
    const agent = await fixture.agent();
    const change = await agent.change("write_file", { path: "d/a.txt", content: "a\n" });
    const page = await fixture.page(fixture.root);
    await page.get(`api/changes/${change}`);
    for (const path of ["/etc/passwd", join(fixture.root, "b.txt"), "a.txt"])
      for (const preview of [true, false]) {
        const { status } = await page.post("api/undo", { change, path, preview });
        expect([path, preview, status]).toEqual([path, preview, 404]);
      }
    const below = await page.post("api/undo", { change, path: join(fixture.root, "d") });
    expect(below.json).toMatchObject({ done: true, changes: [expect.any(String)] });
  });

  it("marks no path that is not a file of the change, and no hunk without its file", async () => {
    const fixture = new Fixture();
    const agent = await fixture.agent();
    const change = await agent.change("write_file", { path: "a.txt", content: "a\n" });
    const page = await fixture.page(fixture.root);
    await page.get(`api/changes/${change}`);
    for (const wrong of [
      { path: "/etc/passwd" },
      { path: join(fixture.root, "b.txt") },
      { path: `${join(fixture.root, "a.txt")}/../a.txt` },
      { path: "a.txt" },
      { hunks: ["0".repeat(24)] },
      { path: join(fixture.root, "a.txt"), hunks: ["../../../../../../../.."] },
    ]) {
      const answer = await page.post("api/keep", { changes: [change], kept: true, ...wrong });
      expect([wrong, answer.status]).toEqual([wrong, 400]);
    }
    expect(existsSync(join(fixture.state, "review/kept.jsonl"))).toBe(false);
  });
});

describe("search", () => {
  it("finds old and new content, and never what a rule masks or hides", async () => {
    const fixture = new Fixture();
    fixture.write("gone.txt", "the Needle was here\n");
    fixture.write(".env", "API_KEY=needle-secret\nMODE=dev\n");
    const agent = await fixture.agent();
    const removed = await agent.change("delete_path", { path: "gone.txt" });
    const masked = await agent.change("edit_file", {
      path: ".env",
      edits: [{ old: "MODE=••••", new: "MODE=••••\nEXTRA=needle-too" }],
    });
    const page = await fixture.page(fixture.root);
    const find = async (text: string) => (await page.get(`api/search?text=${text}`)).json.hits;
    expect(await find("needle")).toMatchObject([
      {
        change: removed,
        name: "gone.txt",
        side: "old",
        line: 1,
        text: "the Needle was here",
        start: 4,
        end: 10,
      },
    ]);
    expect(await find("NEEDLE")).toEqual([]);
    expect(await find("needle-secret")).toEqual([]);
    const { difference } = (await page.get(`api/changes/${masked}`)).json;
    expect(difference.files[0]).toMatchObject({ shows: "masked" });
    expect(JSON.stringify(difference)).not.toContain("needle");
    expect(difference.files[0].hunks[0].number).toBeUndefined();
    expect(
      (await page.get("api/changes?text=needle")).json.changes.map(({ id }: ChangeSummary) => id),
    ).toEqual([removed]);
  });
});
