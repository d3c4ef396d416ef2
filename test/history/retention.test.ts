import { mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { contentHash } from "../../src/engine/text/version.ts";
import { Archive } from "../../src/engine/workspace/archive/archive.ts";
import { Collection } from "../../src/engine/workspace/archive/collection.ts";
import { anonymous } from "../../src/engine/workspace/archive/log.ts";
import type { PendingRecord } from "../../src/engine/workspace/archive/pending-record.ts";
import { HeldDirectories } from "../../src/engine/workspace/disk/held-directories.ts";
import { sys } from "../../src/engine/workspace/disk/syscalls.ts";
import { atOnce } from "../../src/engine/workspace/footprint/time-slice.ts";
import { Fixture } from "../commit/fixture.ts";
import { start } from "../mcp/wire.ts";

const day = 24 * 3600;
const limits = {
  maxFileBytes: 1e9,
  maxChangeBytes: 1e9,
  maxBytes: 1e9,
  maxAgeMs: 30 * day * 1000,
  maxChanges: 100,
};

function objectAt(state: string, hash: string): string {
  return join(state, "objects", hash.slice(0, 2), hash.slice(2));
}

/** Keeps bytes as if they had been last used so many days ago. */
function keepSince(archive: Archive, state: string, text: string, days: number): string {
  const hash = archive.objects.put(Buffer.from(text));
  const then = Date.now() / 1000 - days * day;
  utimesSync(objectAt(state, hash), then, then);
  return hash;
}

const nothing: PendingRecord = { time: Date.now(), by: anonymous, files: [], parents: [] };
const sources = { places: new HeldDirectories(), blob: () => Buffer.alloc(0), temporary: [] };

/** How many files something looks at. */
async function looksOf(action: () => Promise<unknown>): Promise<number> {
  const { lstat } = sys;
  let looks = 0;
  sys.lstat = address => {
    looks++;
    return lstat(address);
  };
  try {
    await action();
  } finally {
    sys.lstat = lstat;
  }
  return looks;
}

const isThere = (path: string) => statSync(path, { throwIfNoEntry: false }) !== undefined;

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 400 && !condition(); i++) await new Promise(resolve => setTimeout(resolve, 25));
  expect(condition()).toBe(true);
}

describe("the archive", () => {
  it("is cleared by age when a server starts, even if nothing changes", async () => {
    using fixture = new Fixture({ a: "a" });
    const archive = new Archive(fixture.state);
    mkdirSync(fixture.state, { mode: 0o700 });
    const old = keepSince(archive, fixture.state, "400 days old", 400);
    const young = keepSince(archive, fixture.state, "a week old", 7);
    await using wire = await start({ roots: [fixture.inside], args: ["--state-dir", fixture.state] });
    await wire.initialize();
    await until(() => !isThere(objectAt(fixture.state, old)));
    expect(isThere(objectAt(fixture.state, young))).toBe(true);
  });

  it("is evicted by size, least recently used first, but never if it was just used", () => {
    using fixture = new Fixture();
    mkdirSync(fixture.state, { mode: 0o700 });
    const archive = new Archive(fixture.state, { ...limits, maxBytes: 25 });
    const [oldest, older] = [5, 3].map(days => keepSince(archive, fixture.state, `${days} days old`, days));
    const fresh = ["a fresh content", "another fresh content"].map(text =>
      archive.objects.put(Buffer.from(text)),
    );
    atOnce(archive.clear());
    const there = [oldest, older, ...fresh].map(hash => isThere(objectAt(fixture.state, hash ?? "")));
    expect(there).toEqual([false, false, true, true]);
  });

  it("is evicted by the disk space that contents take: short ones take more than their bytes", () => {
    using fixture = new Fixture();
    mkdirSync(fixture.state, { mode: 0o700 });
    const archive = new Archive(fixture.state, { ...limits, maxBytes: 3 * 4096 });
    const short = Array.from({ length: 8 }, (_, i) => keepSince(archive, fixture.state, `${i}`, 20 - i));
    atOnce(archive.clear());
    const there = short.map(hash => isThere(objectAt(fixture.state, hash)));
    expect(there).toEqual([...Array(5).fill(false), true, true, true]);
  });

  it("is evicted by size in the order of use also among contents of one minute", () => {
    using fixture = new Fixture();
    mkdirSync(fixture.state, { mode: 0o700 });
    const archive = new Archive(fixture.state, { ...limits, maxBytes: 2 * 4096 });
    const noon = Math.floor(Date.now() / 86_400_000 - 3) * 86_400 + 43_200;
    const hashes = [50, 10, 30, 20, 40].map(second => {
      const hash = archive.objects.put(Buffer.from(`at second ${second}`));
      utimesSync(objectAt(fixture.state, hash), noon + second, noon + second);
      return hash;
    });
    atOnce(archive.clear());
    const there = hashes.map(hash => isThere(objectAt(fixture.state, hash)));
    expect(there).toEqual([true, false, false, false, true]);
  });

  it("is not gone through again at the next start, and the more contents there are, the more changes come first", async () => {
    using fixture = new Fixture();
    mkdirSync(fixture.state, { mode: 0o700 });
    const first = new Archive(fixture.state, limits);
    for (let i = 0; i < 2400; i++) first.objects.put(Buffer.from(`content ${i}`));
    expect(await looksOf(() => first.clearLater())).toBeGreaterThanOrEqual(2400);
    const next = new Archive(fixture.state, limits);
    expect(await looksOf(() => next.clearLater())).toBeLessThan(10);
    const record = async (count: number) => {
      for (let i = 0; i < count; i++) atOnce(next.record(next.changes.newId(), nothing, sources));
      await next.clearLater();
    };
    expect(await looksOf(() => record(500))).toBeLessThan(2400);
    expect(await looksOf(() => record(100))).toBeGreaterThanOrEqual(2400);
    const hours = Date.now() / 1000 - 3600;
    utimesSync(join(fixture.state, "collected"), hours, hours);
    expect(await looksOf(() => next.clearLater())).toBeGreaterThanOrEqual(2400);
  });

  it("is not gone through with each change while that fails", () => {
    using fixture = new Fixture();
    const collection = new Collection(fixture.state, 16 * 1000);
    const asked = Array.from({ length: 5000 }, () => collection.add(100)).filter(Boolean);
    expect(asked).toHaveLength(Math.floor(5000 / 11)); // after a sixteenth of the limit each time
    const ofEmpty = Array.from({ length: 5000 }, () => collection.add(0)).filter(Boolean);
    expect(ofEmpty).toHaveLength(10);
  });

  it("keeps content that another process starts to use while it is being removed", () => {
    using fixture = new Fixture();
    mkdirSync(fixture.state, { mode: 0o700 });
    const clearing = new Archive(fixture.state, limits);
    const writing = new Archive(fixture.state, limits);
    const hash = keepSince(clearing, fixture.state, "wanted again", 400);
    const { rename } = sys;
    sys.rename = (from, to) => {
      sys.rename = rename;
      writing.objects.put(Buffer.from("wanted again")); // after the look, before it goes
      rename(from, to);
    };
    try {
      atOnce(clearing.clear());
    } finally {
      sys.rename = rename;
    }
    expect(writing.objects.get(hash)?.toString()).toBe("wanted again");
  });

  it("gives content that is used again after months a new time, also in a process that knew it", () => {
    using fixture = new Fixture();
    mkdirSync(fixture.state, { mode: 0o700 });
    const archive = new Archive(fixture.state, limits);
    const hash = keepSince(archive, fixture.state, "known", 400);
    archive.objects.put(Buffer.from("known"));
    atOnce(archive.clear());
    expect(isThere(objectAt(fixture.state, hash))).toBe(true);
  });
});

describe("a file that is only read", () => {
  const text = "only read\n";
  const named = (state: string) =>
    readdirSync(state, { recursive: true, encoding: "utf8" }).map(name => name.replace("/", ""));
  const hash = contentHash(Buffer.from(text));

  it("is not archived by a server that may only read, which still reports what has changed since", async () => {
    using fixture = new Fixture({ a: text });
    mkdirSync(fixture.state, { mode: 0o700 });
    await using wire = await start({
      roots: [fixture.inside],
      args: ["--read-only", "--state-dir", fixture.state],
    });
    await wire.initialize();
    const first = JSON.stringify(await wire.call("read_file", { path: "a" }));
    const version = /v:[0-9a-f]{12}/.exec(first)?.[0];
    writeFileSync(join(fixture.inside, "a"), `${text}and more\n`);
    const second = JSON.stringify(await wire.call("read_file", { path: "a", since: version }));
    expect(second).toContain("+and more");
    expect(
      readdirSync(fixture.state, { recursive: true }).filter(name => /objects|reads|seen/.test(String(name))),
    ).toEqual([]);
  });

  it("is kept apart from history, for versions", async () => {
    using fixture = new Fixture({ a: text });
    await using wire = await start({ roots: [fixture.inside], args: ["--state-dir", fixture.state] });
    await wire.initialize();
    await wire.call("read_file", { path: "a" });
    const read = join("reads", hash.slice(0, 2), hash.slice(2)).replace("/", "");
    await until(() => isThere(fixture.state) && named(fixture.state).includes(read));
    expect(isThere(objectAt(fixture.state, hash))).toBe(false);
  });
});
