// The store in a directory, under the shared suite and under faults of its own: every system call fails once, several
// processes write, files are damaged.
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DirectoryStore } from "../../src/engine/store/directory/directory-store.ts";
import { errno, watching } from "../commit/failing.ts";
import { entry, object, type Place, storeSuite } from "./suite.ts";

class Fixture implements Place {
  readonly path = mkdtempSync(join(tmpdir(), "polyfs-store-"));

  async open() {
    return new DirectoryStore(join(this.path, "store"));
  }

  async age(ms: number) {
    for (const name of readdirSync(this.path, { recursive: true, encoding: "utf8" })) {
      const path = join(this.path, name);
      const time = (statSync(path).mtimeMs - ms) / 1000;
      utimesSync(path, time, time);
    }
  }

  async [Symbol.asyncDispose]() {
    rmSync(this.path, { recursive: true, force: true });
  }
}

storeSuite("a directory", async () => new Fixture());

describe("the store in a directory", () => {
  it("can be copied by a program that does not preserve hard links", async () => {
    await using fixture = new Fixture();
    const [live, dropped] = await Promise.all(
      ["live", "dropped"].map(async name => (await fixture.open()).create({ name })),
    );
    if (typeof live !== "object" || typeof dropped !== "object") throw new Error("not created");
    await (await fixture.open()).drop(dropped.id);
    cpSync(join(fixture.path, "store"), join(fixture.path, "copy"), { recursive: true });
    const copy = new DirectoryStore(join(fixture.path, "copy"));
    expect(await copy.find("live")).toMatchObject({ id: live.id });
    expect((await copy.find("live"))?.dropped).toBeUndefined();
    expect(await copy.find("dropped")).toBeUndefined();
    expect(await copy.create({ name: "live" })).toBe("exists");
    await fixture.age(1000 * 24 * 3_600_000);
    await copy.collect({ graceMs: 1000 });
    expect(await copy.find("live")).toMatchObject({ id: live.id });
    // The time of the drop is kept, too.
    const begun = Math.floor(Date.now() / 1000) * 1000;
    expect(await copy.drop(live.id)).toBe(true);
    expect((await copy.info(live.id))?.dropped).toBeGreaterThanOrEqual(begun);
  });

  it.each([
    ["damaged", (path: string) => writeFileSync(path, "x")],
    ["missing", (path: string) => rmSync(path)],
  ])("says so where the description of a workspace is %s", async (_, spoil) => {
    await using fixture = new Fixture();
    const made = await (await fixture.open()).create({ name: "a" });
    if (typeof made === "string") throw new Error(made);
    cpSync(join(fixture.path, "store"), join(fixture.path, "copy"), { recursive: true });
    spoil(join(fixture.path, "copy/workspaces", made.id, "about"));
    const copy = new DirectoryStore(join(fixture.path, "copy"));
    await expect(copy.find("a")).rejects.toMatchObject({
      code: "store_unavailable",
      data: { reason: "damaged" },
    });
  });

  it("has an entry completely or not at all, whichever system call fails", async () => {
    await using fixture = new Fixture();
    const store = await fixture.open();
    const made = await store.create({ name: "a" });
    if (typeof made === "string") throw new Error(made);
    let acknowledged = 0;
    let refused = 0;
    for (let failing = 1, failed = true; failed; failing++) {
      const text = `entry ${failing}`;
      const own = entry(text, [object(text)]);
      const before = (await store.info(made.id))?.revision ?? 0;
      failed = false;
      try {
        const append = () => store.append(made.id, before, own, { objects: [object(text)] });
        await watching((count, name) => {
          if (count !== failing) return;
          failed = true;
          throw errno("EIO", name);
        }, append);
        acknowledged++;
      } catch (error) {
        expect(error).toMatchObject({ code: "store_unavailable" });
        refused++;
      }
      // Asking again finds out what became of it, and does it once.
      const again = await (await fixture.open()).append(made.id, before, own, { objects: [object(text)] });
      expect(again).toEqual({ result: "appended", revision: before + 1 });
      expect(Buffer.from((await store.get(made.id, object(text)[0])) ?? []).toString()).toBe(text);
    }
    expect(refused).toBeGreaterThan(10);
    expect(acknowledged).toBeGreaterThan(0);
    const bodies = (await store.entries(made.id, 0, 1000)).map(({ body }) => body);
    expect(bodies).toEqual(Array.from({ length: bodies.length }, (_, i) => `entry ${i + 1}`));
    for await (const damage of store.check()) throw new Error(JSON.stringify(damage));
  });

  it.each([
    ["EDQUOT", "full", "the quota is used up"],
    ["ENOSPC", "full", "the disk is full"],
    ["EROFS", "read_only", "the file system is mounted read-only"],
  ])("says why nothing can be written: %s", async (code, reason, detail) => {
    await using fixture = new Fixture();
    const store = await fixture.open();
    const refused = watching(
      (_, name) => {
        throw errno(code, name);
      },
      () => store.create({ name: "a" }),
    );
    await expect(refused).rejects.toMatchObject({ code: "store_unavailable", data: { reason, detail } });
  });

  it("has a workspace completely or not at all, whichever system call of a creation or a drop fails", async () => {
    await using fixture = new Fixture();
    const store = await fixture.open();
    for (let failing = 1, failed = true; failed; failing++) {
      failed = false;
      const count = (at: number, name: string) => {
        if (at !== failing) return;
        failed = true;
        throw errno("ENOSPC", name);
      };
      const name = `w${failing}`;
      const createAndDrop = async () => {
        const made = await store.create({ name });
        if (typeof made !== "string") await store.drop(made.id);
      };
      await watching(count, createAndDrop).catch(() => {});
      const found = await (await fixture.open()).find(name);
      if (found !== undefined) expect(await store.drop(found.id)).toBe(true);
      expect(await store.create({ name })).toMatchObject({ name, revision: 0 });
    }
  });

  it("names what is damaged", async () => {
    await using fixture = new Fixture();
    const store = await fixture.open();
    const made = await store.create({ name: "a" });
    if (typeof made === "string") throw new Error(made);
    const [lost, torn] = [object("lost"), object("torn")];
    for (const [i, one] of [lost, torn, object("fine")].entries())
      await store.append(made.id, i, entry("entry", [one]), { objects: [one] });
    const pathOf = (hash: string) => join(fixture.path, "store/objects", hash.slice(0, 2), hash.slice(2));
    rmSync(pathOf(lost[0]));
    writeFileSync(pathOf(torn[0]), "\0to");
    writeFileSync(join(fixture.path, "store/workspaces", made.id, "log/3"), "garbage");
    const damages = [];
    for await (const { what, where } of (await fixture.open()).check()) damages.push([what, where]);
    expect(damages).toEqual([
      ["damaged_entry", "a/3"],
      ["missing_object", lost[0]],
      ["damaged_object", torn[0]],
    ]);
  });
});
