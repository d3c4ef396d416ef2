// The list of a store with many workspaces: quick, and never another one than the names say.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DirectoryStore } from "../../src/engine/store/directory/directory-store.ts";
import { sys } from "../../src/engine/workspace/disk/syscalls.ts";

const count = 60;

class Fixture implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), "polyfs-listing-"));
  readonly store = this.open();

  open(name = "store") {
    return new DirectoryStore(join(this.path, name));
  }

  async fill(): Promise<void> {
    for (let i = 0; i < count; i++) await this.store.create({ name: `w${i}`, about: { owner: `o${i}` } });
    later();
  }

  async create(name: string): Promise<string> {
    const info = await this.store.create({ name });
    if (typeof info === "string") throw new Error(info);
    return info.id;
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Far enough from the last change that a directory's time tells of every later one. */
function later(): void {
  vi.setSystemTime(Date.now() + 10_000);
}

async function names(store: DirectoryStore, dropped = false): Promise<string[]> {
  return (await store.list({ dropped })).map(({ name }) => name);
}

describe("the list of a store with many workspaces", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  it("opens one file in a later process, and is the same", async () => {
    using fixture = new Fixture();
    await fixture.fill();
    const first = await fixture.open().list();
    const opened = vi.spyOn(sys, "open");
    const second = await fixture.open().list();
    expect(opened.mock.calls.map(([path]) => String(path))).toEqual([join(fixture.path, "store/listing")]);
    expect(second).toEqual(first);
    expect(second).toHaveLength(count);
  });

  it("shows what other processes create, drop and restore, at once and later", async () => {
    using fixture = new Fixture();
    await fixture.fill();
    const other = fixture.open();
    const live = new Set(await names(other));
    const ids = new Map((await other.list()).map(({ name, id }) => [name, id]));
    for (let i = 0; i < 12; i++) {
      if (i % 3 === 0) {
        ids.set(`new${i}`, await fixture.create(`new${i}`));
        live.add(`new${i}`);
      } else if (i % 3 === 1) {
        await fixture.store.drop(ids.get(`w${i}`) ?? "");
        live.delete(`w${i}`);
      } else {
        await fixture.store.restore(ids.get(`w${i - 1}`) ?? "");
        live.add(`w${i - 1}`);
      }
      for (const store of [other, fixture.open()]) {
        expect(await names(store)).toEqual([...live].sort());
        if (i % 2 === 0) later();
        expect(await names(store)).toEqual([...live].sort());
      }
    }
    expect(await names(other, true)).toEqual([]);
  });

  it("does not depend on the file, nor on the store being the same directory", async () => {
    using fixture = new Fixture();
    await fixture.fill();
    const all = await names(fixture.open());
    cpSync(join(fixture.path, "store"), join(fixture.path, "copy"), { recursive: true });
    const copy = fixture.open("copy");
    expect(await names(copy)).toEqual(all);
    await copy.drop((await copy.find("w7"))?.id ?? "");
    expect(await names(copy)).toEqual(all.filter(name => name !== "w7"));
    expect(await names(fixture.open("copy"))).toEqual(all.filter(name => name !== "w7"));
    const file = join(fixture.path, "store/listing");
    const text = readFileSync(file, "utf8");
    for (const spoilt of ["", "x", text.slice(0, -9), text.replace("w11", "w99")]) {
      writeFileSync(file, spoilt);
      expect(await names(fixture.open())).toEqual(all);
    }
  });
});
