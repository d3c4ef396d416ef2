// Long histories: earlier changes are gathered, several hundred in a file, and what asks for the latest reads no more
// than in a short history.
import {
  copyFileSync,
  existsSync,
  fstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { listChanges } from "../../src/engine/history/changes.ts";
import { standing } from "../../src/engine/history/standing.ts";
import { undo } from "../../src/engine/history/undo.ts";
import { Archive } from "../../src/engine/workspace/archive/archive.ts";
import type { ChangeLog, ChangeRecord } from "../../src/engine/workspace/archive/log.ts";
import { sys } from "../../src/engine/workspace/disk/syscalls.ts";
import { atOnce } from "../../src/engine/workspace/footprint/time-slice.ts";
import { Fixture } from "../commit/fixture.ts";

const forever = Number.POSITIVE_INFINITY;

/** Records so many changes of files that are not there any more; their ids, oldest first. */
function record(changes: ChangeLog, count: number, at = "/nowhere"): string[] {
  const ids = changes.newIds(count);
  for (const [i, id] of ids.entries()) changes.add(creation(id, `${at}/${i}`));
  return ids;
}

function creation(id: string, at: string): ChangeRecord {
  return {
    ...{ id, time: Date.now(), action: "write_file", client: "a", connection: "b", parents: [], kept: true },
    files: [{ at, effect: "created", kind: "file" }],
  };
}

function stateOf(fixture: Fixture): { changes: ChangeLog; single: () => string[]; earlier: () => string[] } {
  mkdirSync(fixture.state, { mode: 0o700 });
  const { changes } = new Archive(fixture.state);
  const namesIn = (folder: string) => () => {
    try {
      return readdirSync(join(fixture.state, folder));
    } catch {
      return [];
    }
  };
  return { changes, single: namesIn("changes"), earlier: namesIn("earlier") };
}

const idsOf = (changes: ChangeLog) => [...changes.newest()].map(({ id }) => id).reverse();

type Call = Exclude<keyof typeof sys, "lstat">;

/** Calls `before` with each disk call that something makes. */
async function watched(
  before: (call: Call, args: readonly unknown[]) => void,
  action: () => Promise<unknown>,
) {
  const original = { ...sys };
  const wrapped = Object.entries(original).map(([name, call]) => [
    name,
    (...args: unknown[]) => {
      before(name as Call, args);
      return (call as (...args: unknown[]) => unknown)(...args);
    },
  ]);
  Object.assign(sys, Object.fromEntries(wrapped));
  try {
    return await action();
  } finally {
    Object.assign(sys, original);
  }
}

/** What something costs the disk. */
async function costOf(action: () => Promise<unknown>) {
  const cost = { calls: 0, bytes: 0, names: 0 };
  const { read, names } = sys;
  sys.read = (...args) => {
    const count = read(...args);
    cost.bytes += count;
    return count;
  };
  sys.names = address => {
    const found = names(address);
    cost.names += found.length;
    return found;
  };
  try {
    await watched(() => cost.calls++, action);
  } finally {
    Object.assign(sys, { read, names });
  }
  return cost;
}

const rounds = 3;

/** The same without what a server does in the background now and then. */
async function leastCostOf(action: () => Promise<unknown>): ReturnType<typeof costOf> {
  const all: Awaited<ReturnType<typeof costOf>>[] = [];
  for (let i = 0; i < rounds; i++) all.push(await costOf(action));
  const least = (of: (cost: (typeof all)[number]) => number) => Math.min(...all.map(of));
  return { calls: least(one => one.calls), bytes: least(one => one.bytes), names: least(one => one.names) };
}

describe("with thousands of changes before them", () => {
  it("the first page, a change and its undo read no more than with a hundred", async () => {
    const costs = await Promise.all(
      [100, 4000].map(async count => {
        const fixture = new Fixture({ a: "a" });
        const { workspace } = fixture;
        const { changes } = workspace.archive;
        mkdirSync(fixture.state, { mode: 0o700, recursive: true });
        record(changes, count, fixture.inside);
        await workspace.archive.clearLater();
        return { fixture, count };
      }),
    );
    const found = [];
    for (const { fixture, count } of costs) {
      const { workspace } = fixture;
      const page = await leastCostOf(() => listChanges(workspace, { limit: 21 }));
      const write = await leastCostOf(async () => {
        await fixture.commit([fixture.write("a", `new ${Math.random()}`)]);
        await workspace.allRecorded();
      });
      const back = await leastCostOf(async () => {
        const { value } = await standing(workspace).next();
        if (value) await undo(workspace, { change: value.record.id });
      });
      expect(fixture.text("a")).toBe("a");
      expect(await listChanges(workspace, { limit: 10_000 })).toHaveLength(count + 2 * rounds);
      found.push({ page, write, back });
      fixture[Symbol.dispose]();
    }
    const [few, many] = found;
    for (const call of ["page", "write", "back"] as const) {
      const [short, long] = [few?.[call], many?.[call]];
      if (short === undefined || long === undefined) throw new Error("nothing was measured");
      // A server does a few things in the background; one that read each change would need thousands.
      expect(long.calls, call).toBeLessThan(short.calls + 400);
      expect(long.bytes, call).toBeLessThan(short.bytes + 10_000);
      expect(long.names, call).toBeLessThan(10 * 1024);
    }
  });
});

describe("a record", () => {
  it("is written in place of a draft that a crash left, and found from then on, also by its maker", () => {
    using fixture = new Fixture();
    const { changes, single } = stateOf(fixture);
    const [id = "", other = ""] = changes.newIds(2);
    mkdirSync(join(fixture.state, "changes"), { mode: 0o700 });
    writeFileSync(join(fixture.state, "changes", `${id}.json.draft`), "a longer draft ".repeat(100));
    expect(changes.recorded(id)).toBeUndefined();
    changes.add(creation(id, "/nowhere"));
    expect(single()).toEqual([`${id}.json`]);
    expect(changes.recorded(id)?.files).toEqual(creation(id, "/nowhere").files);
    new Archive(fixture.state).changes.add(creation(other, "/elsewhere"));
    expect(idsOf(changes)).toEqual([id, other]);
  });
});

describe("an id", () => {
  it("is not made twice, however many processes make one in the same millisecond", () => {
    using fixture = new Fixture();
    const { changes } = stateOf(fixture);
    const { now } = Date;
    const time = now();
    Date.now = () => time;
    try {
      const logs = Array.from({ length: 800 }, () => new Archive(fixture.state).changes);
      const ids = [changes, ...logs].map(log => log.newId());
      expect(new Set(ids).size).toBe(801);
    } finally {
      Date.now = now;
    }
  });

  it("of an earlier version sorts by its time among those of this one, and a command is placed beside it", () => {
    using fixture = new Fixture();
    const { changes } = stateOf(fixture);
    const sinceMs = Date.now();
    const made = (ms: number, end: string) => `${(sinceMs + ms).toString(36).padStart(8, "0")}${end}`;
    const order = [made(1, "zzz"), made(2, "000000"), made(2, "a0b"), made(2, "zzzzzz"), made(3, "001")];
    for (const id of [...order].reverse()) changes.add(creation(id, `/nowhere/${id}`));
    expect(idsOf(changes)).toEqual(order);
    for (const [i, before] of order.entries()) {
      for (const after of [undefined, ...order.slice(0, i)]) {
        const id = changes.idBetween(after, before, sinceMs) ?? "";
        expect(id).toMatch(/^[0-9a-z]{14}$/);
        expect(id < before && id > (after ?? "")).toBe(true);
      }
    }
    const [first = "", second = ""] = [made(5, "a0b"), made(5, "a0b001")];
    expect(changes.idBetween(first, second, sinceMs)).toBeUndefined();
    changes.noteId(made(100_000, "a0b"));
    expect(changes.newId() > made(100_000, "zzz")).toBe(true);
  });
});

it("a record of a machine whose clock is hours behind is among those that were added since", () => {
  using fixture = new Fixture();
  const { changes } = stateOf(fixture);
  const old = `${(Date.now() - 10_800_000).toString(36).padStart(8, "0")}a0b1c2`;
  const since = Date.now();
  const shown = new Set(changes.idsSince(since));
  const [id = ""] = changes.newIds(1);
  changes.add(creation(id, "/nowhere"));
  changes.add(creation(old, "/elsewhere"));
  expect(changes.sinceThen(since, shown).map(one => one.id)).toEqual([old, id]);
  expect(changes.idsSince(since).sort()).toEqual([old, id]);
  expect(changes.sinceThen(since, new Set([old])).map(one => one.id)).toEqual([id]);
});

describe("earlier changes", () => {
  it("are listed and read as before when they are gathered, and the directory of single ones is short", async () => {
    using fixture = new Fixture();
    const { changes, single, earlier } = stateOf(fixture);
    record(changes, 1700);
    const before = [...changes.newest()];
    await changes.gather(10_000, forever);
    expect(single()).toHaveLength(512);
    expect(earlier()).toHaveLength(3);
    expect([...changes.newest()]).toEqual(before);
    expect(changes.ids()).toEqual(before.map(({ id }) => id).reverse());
    const other = new Archive(fixture.state).changes;
    for (const one of before) expect(other.get(one.id)).toEqual(one);
    const [, page] = [before.slice(0, 1000), before.slice(1000, 1200)];
    const [behind, first] = [before[1200]?.id, before[999]?.id];
    expect([...changes.newest(first, behind)]).toEqual(page);
    expect(changes.newestId()).toBe(before[0]?.id);
  });

  it("are only the newest ones and the young ones, to the change", async () => {
    using fixture = new Fixture();
    const { changes } = stateOf(fixture);
    const ids = record(changes, 1700);
    await changes.gather(10_000, forever);
    atOnce(changes.clear(1000, forever));
    await changes.gather(1000, forever);
    expect(idsOf(changes)).toEqual(ids.slice(-1000));
    const old = (Date.now() - 3_600_000).toString(36).padStart(8, "0");
    const [made] = [...changes.newest()] as [ChangeRecord];
    for (let i = 0; i < 600; i++)
      changes.add({ ...made, id: `${old}${(i + 1000).toString(36).padStart(3, "0")}` });
    await changes.gather(10_000, forever);
    expect(changes.ids()).toHaveLength(1600);
    atOnce(changes.clear(10_000, 1_800_000));
    await changes.gather(10_000, 1_800_000);
    expect(idsOf(changes)).toEqual(ids.slice(-1000));
  });

  it("have a late one, whose id sorts among them, in its place", async () => {
    using fixture = new Fixture();
    const { changes } = stateOf(fixture);
    const ids = record(changes, 1100);
    await changes.gather(10_000, forever);
    const [made] = [...changes.newest()] as [ChangeRecord];
    const late = `${ids[99]}0`;
    changes.add({ ...made, id: late });
    const wanted = [...ids.slice(0, 100), late, ...ids.slice(100)];
    expect(idsOf(changes)).toEqual(wanted);
    record(changes, 600);
    await changes.gather(10_000, forever);
    expect(idsOf(changes).slice(0, wanted.length)).toEqual(wanted);
  });

  it("are in the list once while two processes gather them, and while another one reads", async () => {
    using fixture = new Fixture();
    const { changes } = stateOf(fixture);
    const ids = record(changes, 1700);
    const others = Array.from({ length: 2 }, () => new Archive(fixture.state).changes);
    let done = false;
    const gathering = Promise.all(others.map(other => other.gather(10_000, forever))).then(() => {
      done = true;
    });
    do {
      const seen: string[] = [];
      for await (const { id } of changes.newestInTurns()) seen.push(id);
      expect(seen.reverse()).toEqual(ids);
      await new Promise(resolve => setImmediate(resolve));
    } while (!done);
    await gathering;
    expect(idsOf(changes)).toEqual(ids);
  });

  it.runIf(existsSync("/proc/self/fd"))("are all there whichever call to the disk fails", async () => {
    using fixture = new Fixture();
    const { changes } = stateOf(fixture);
    const ids = record(changes, 1100);
    const calls: readonly Call[] = [
      "mkdir",
      "open",
      "write",
      "flushLater",
      "rename",
      "unlink",
      "close",
      "read",
    ];
    for (const failing of calls) {
      for (const nth of [1, 2, 600]) {
        let count = 0;
        const gathered = watched(
          call => {
            if (call === failing && ++count === nth) throw Object.assign(new Error(), { code: "ENOSPC" });
          },
          () => changes.gather(10_000, forever),
        );
        await gathered.catch(() => {});
        expect(idsOf(new Archive(fixture.state).changes), `${failing} ${nth}`).toEqual(ids);
      }
    }
  });

  it.runIf(process.platform === "linux")(
    "are flushed with their names before the single ones go",
    async () => {
      using fixture = new Fixture();
      const { changes, earlier } = stateOf(fixture);
      record(changes, 1100);
      const happened: string[] = [];
      await watched(
        (call, [at]) => {
          if (call === "flushLater") happened.push(`flush ${fstatSync(Number(at)).ino}`);
          if (call === "rename") happened.push("rename");
          if (call === "unlink") happened.push("unlink");
        },
        () => changes.gather(10_000, forever),
      );
      const inodes = earlier().map(name => statSync(join(fixture.state, "earlier", name)).ino);
      expect(inodes).toHaveLength(2);
      const folders = [join(fixture.state, "earlier"), fixture.state].map(path => statSync(path).ino);
      const put = happened.filter((one, i) => one !== "unlink" || happened[i - 1] !== "unlink");
      const names = new Map(inodes.map(inode => [`flush ${inode}`, "flush records"]));
      const written = ["flush records", "rename", ...folders.map(inode => `flush ${inode}`), "unlink"];
      expect(put.map(one => names.get(one) ?? one)).toEqual([...written, ...written]);
    },
  );

  it("stay single where they are damaged, and a damaged file of them hides no others", async () => {
    using fixture = new Fixture();
    const { changes, earlier } = stateOf(fixture);
    const ids = record(changes, 1700);
    writeFileSync(join(fixture.state, "changes", `${ids[3]}.json`), "torn");
    await changes.gather(10_000, forever);
    expect(readFileSync(join(fixture.state, "changes", `${ids[3]}.json`), "utf8")).toBe("torn");
    expect(idsOf(changes)).toEqual(ids.filter((_, i) => i !== 3));
    const [oldest = "", ...others] = earlier().sort();
    truncateSync(join(fixture.state, "earlier", oldest), 100);
    writeFileSync(join(fixture.state, "earlier", others[0] ?? ""), "true\n");
    expect(idsOf(changes)).toEqual(ids.slice(-(1700 - 1 - 512 - 512)));
  });

  it.for([
    [
      "a record that a power cut brings back, torn",
      (state: string, id: string) => writeFileSync(join(state, "changes", `${id}.json`), ""),
    ],
    [
      "a damaged copy of their file",
      (state: string) => {
        const [name = ""] = readdirSync(join(state, "earlier"));
        const [contents, ...records] = readFileSync(join(state, "earlier", name), "utf8").split("\n");
        const damaged = [contents, ...records.map(({ length }) => "x".repeat(length))].join("\n");
        for (const copy of ["00000000", "ffffffff"]) // in either order
          writeFileSync(join(state, "earlier", name.replace(/.{8}(?=\.jsonl$)/, copy)), damaged);
      },
    ],
  ] as const)("are not hidden by %s", async ([, damage]) => {
    using fixture = new Fixture();
    const { changes } = stateOf(fixture);
    const ids = record(changes, 1100);
    await changes.gather(10_000, forever);
    damage(fixture.state, ids[0] ?? "");
    expect(idsOf(changes)).toEqual(ids);
    for (const id of ids) expect(new Archive(fixture.state).changes.recorded(id)?.id).toBe(id);
  });

  it("do not take along what a program that synchronises folders has added", async () => {
    using fixture = new Fixture();
    const { changes, single } = stateOf(fixture);
    const ids = record(changes, 1100);
    const others = [` copy of ${ids[0]}.json`, `${ids[511]}.sync-conflict-1.json`, `${ids[587]}~.json`];
    for (const [i, name] of others.entries())
      copyFileSync(join(fixture.state, "changes", `${ids[i]}.json`), join(fixture.state, "changes", name));
    await changes.gather(10_000, forever);
    expect(idsOf(changes)).toEqual(ids);
    expect(
      single()
        .filter(name => others.includes(name))
        .sort(),
    ).toEqual(others.sort());
  });

  it("are in one file each, however often it fails", async () => {
    using fixture = new Fixture();
    const { changes, earlier, single } = stateOf(fixture);
    const ids = record(changes, 1700);
    for (const [failing, nth] of [
      ["unlink", 1],
      ["unlink", 600],
      ["flushLater", 2],
      ["flushLater", 3],
    ] as const) {
      for (let i = 0; i < 3; i++) {
        let count = 0;
        const gathered = watched(
          call => {
            if (call === failing && ++count >= nth) throw Object.assign(new Error(), { code: "EPERM" });
          },
          () => changes.gather(10_000, forever),
        );
        await gathered.catch(() => {});
      }
    }
    await changes.gather(10_000, forever);
    expect(single()).toHaveLength(512);
    const files = earlier().map(name => readFileSync(join(fixture.state, "earlier", name), "utf8"));
    expect(files.flatMap(text => text.trimEnd().split("\n").slice(1))).toHaveLength(1700 - 512);
    expect(idsOf(changes)).toEqual(ids);
  });

  it("are gathered and cleared beside a record, and a file of them, that cannot be read", async () => {
    using fixture = new Fixture();
    const { changes, earlier, single } = stateOf(fixture);
    const ids = record(changes, 2300);
    const beside = (name: string, action: () => Promise<unknown>) =>
      watched((call, [at]) => {
        if (call === "open" && String(at).includes(name)) throw Object.assign(new Error(), { code: "EIO" });
      }, action);
    await beside(`${ids[2]}.json`, () => changes.gather(10_000, forever));
    expect(single()).toHaveLength(513);
    const [oldest = ""] = earlier().sort();
    for (const most of [3300, 1500]) {
      record(changes, 1100);
      await beside(oldest, async () => {
        atOnce(changes.clear(most, forever));
        await changes.gather(most, forever);
      });
      expect(single()).toHaveLength(512);
    }
    expect(earlier()).not.toContain(oldest);
    expect(changes.ids()).toHaveLength(1500);
  });

  it.runIf(process.platform !== "win32")("are gathered where the state directory is a link", async () => {
    using fixture = new Fixture();
    const { single } = stateOf(fixture);
    symlinkSync(fixture.state, `${fixture.state}-link`);
    const { changes } = new Archive(`${fixture.state}-link`);
    const ids = record(changes, 1100);
    await changes.gather(10_000, forever);
    expect(single()).toHaveLength(512);
    expect(idsOf(changes)).toEqual(ids);
  });

  it("are found without reading every file that may have them", async () => {
    using fixture = new Fixture();
    const { changes } = stateOf(fixture);
    const ids = record(changes, 2300, `/nowhere/${"x".repeat(1000)}`);
    await changes.gather(10_000, forever);
    const [made] = [...changes.newest()] as [ChangeRecord];
    for (const i of [0, 600, 1200]) changes.add({ ...made, id: `${ids[i]}0` }); // one file will span the others
    const all = [...ids, ...record(changes, 1100)];
    await changes.gather(10_000, forever);
    const { bytes } = await costOf(async () => {
      for (const id of all) expect(changes.recorded(id)).toBeDefined();
    });
    expect(bytes / all.length).toBeLessThan(50_000); // a file of them is 800 KB
  });

  // Each damage, and how many of the 512 records in the file it may cost.
  const damages: readonly [name: string, most: number, damage: (bytes: Buffer) => Buffer][] = [
    ["a list of nothing", 0, bytes => withIndex(bytes, "[null]")],
    ["a list of numbers", 0, bytes => withIndex(bytes, "[1,2]")],
    ["ids that are numbers", 0, bytes => withIndex(bytes, "[[5,300]]")],
    ["negative lengths", 0, bytes => withIndex(bytes, '[["a",-5],["b","x"]]')],
    ["an index of one record", 0, bytes => withIndex(bytes, indexOf(bytes).replace(/,\[.*/u, "]"))],
    ["no index", 0, bytes => withIndex(bytes, "")],
    ["the last record cut off", 1, bytes => bytes.subarray(0, -20)],
    ["an index of zeros", 0, bytes => withIndex(bytes, "\0".repeat(indexOf(bytes).length))],
    ...[0, 1, 3, 10, 16, 17, 18, 19, 20, 21, 22, 4001, 4002, 4003, 4004, 4005, 4006, 4007].map(
      (at): (typeof damages)[number] => [`a wrong bit at ${at}`, 0, bytes => withBit(bytes, at)],
    ),
    ["a wrong bit at the end of the index", 1, bytes => withBit(bytes, bytes.indexOf("\n"))],
    ["a wrong bit in a record", 1, bytes => withBit(bytes, bytes.indexOf("\n") + 2)],
    ["a wrong bit between two records", 2, bytes => withBit(bytes, bytes.indexOf("\n", bytes.length / 2))],
  ];

  it("lose only the records that damage hit", async () => {
    using fixture = new Fixture();
    const { changes, earlier } = stateOf(fixture);
    const ids = record(changes, 1100);
    await changes.gather(10_000, forever);
    const path = join(fixture.state, "earlier", earlier().sort()[0] ?? "");
    const bytes = readFileSync(path);
    for (const [name, most, damage] of damages) {
      rmSync(path); // readers recognise a file by its inode
      writeFileSync(path, damage(bytes));
      const read = new Archive(fixture.state).changes;
      const lost = ids.slice(0, 512).filter(id => read.get(id)?.id !== id);
      expect(lost.length, name).toBeLessThanOrEqual(most);
      const listed = new Set(idsOf(read));
      // A wrong id in the index costs its place in the list.
      expect(ids.filter(id => !listed.has(id) && !lost.includes(id)).length, name).toBeLessThanOrEqual(1);
      expect(
        ids.slice(512).every(id => listed.has(id)),
        name,
      ).toBe(true);
    }
  });

  it("are read from another copy where one is damaged", async () => {
    using fixture = new Fixture();
    const { changes, earlier } = stateOf(fixture);
    const ids = record(changes, 1200);
    await changes.gather(10_000, forever);
    const [name = ""] = earlier().filter(name => name.startsWith(ids[0] ?? ""));
    const one = join(fixture.state, "earlier", name);
    const other = one.replace(/.{8}(?=\.jsonl$)/, "00000000");
    copyFileSync(one, other); // as another process writes that gathers at the same time
    const bytes = readFileSync(one);
    const [first, later] = [bytes.indexOf("nowhere/3"), bytes.indexOf("nowhere/300")].map(at => at - 20);
    writeFileSync(one, withBit(bytes, first ?? 0));
    writeFileSync(other, withBit(readFileSync(other), later ?? 0));
    writeFileSync(join(fixture.state, "changes", `${ids[7]}.json`), "torn");
    const read = new Archive(fixture.state).changes;
    expect(ids.filter(id => read.get(id)?.id !== id)).toEqual([]);
    expect(idsOf(read)).toEqual(ids);
  });
});

function indexOf(bytes: Buffer): string {
  return bytes.subarray(0, bytes.indexOf("\n")).toString();
}

function withIndex(bytes: Buffer, index: string): Buffer {
  return Buffer.concat([Buffer.from(index), bytes.subarray(bytes.indexOf("\n"))]);
}

function withBit(bytes: Buffer, at: number): Buffer {
  const damaged = Buffer.from(bytes);
  damaged[at] = (damaged[at] ?? 0) ^ 4;
  return damaged;
}
