// The archive records a change after its answer. The delay never shows: not to a caller that asks for the history at
// once, not after the process was killed in between, and not in the directory.
import { spawnSync } from "node:child_process";
import {
  constants,
  existsSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listChanges } from "../../src/engine/history/changes.ts";
import { undo } from "../../src/engine/history/undo.ts";
import { contentHash } from "../../src/engine/text/version.ts";
import type { Change } from "../../src/engine/workspace/commit/change.ts";
import { holdsCommits } from "../../src/engine/workspace/commit/journal.ts";
import { sys } from "../../src/engine/workspace/disk/syscalls.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { bundle } from "../commit/bundle.ts";
import { errno, watching } from "../commit/failing.ts";
import { Fixture } from "../commit/fixture.ts";
import { hasProc } from "../setup/proc.ts";

let worker: Awaited<ReturnType<typeof bundle>>;
beforeAll(async () => {
  worker = await bundle("worker.ts");
});
afterAll(() => worker[Symbol.dispose]());

const large = 400_000; // words: more than a journal holds

describe("a change that has just been answered", () => {
  it("is the last one even while it cannot be recorded, and undo does not choose an older one", async () => {
    using fixture = new Fixture({ first: "0", second: "0" });
    const { workspace, state } = fixture;
    const write = (name: string) => workspace.edit(workspace.at(name), () => Buffer.from("1"));
    await write("first");
    await workspace.settled();
    renameSync(join(state, "objects"), join(state, "objects-away"));
    writeFileSync(join(state, "objects"), "");
    await write("second");
    const [latest] = await listChanges(workspace, { limit: 1 });
    expect(latest).toMatchObject({ kept: false, files: [{ at: join(fixture.inside, "second") }] });
    await expect(undo(workspace, { change: latest?.id ?? "" })).rejects.toMatchObject({ code: "not_kept" });
    rmSync(join(state, "objects"));
    renameSync(join(state, "objects-away"), join(state, "objects"));
    expect(await listChanges(workspace, { limit: 1 })).toMatchObject([{ id: latest?.id, kept: true }]);
    await undo(workspace, { change: latest?.id ?? "" });
    expect(fixture.text("second")).toBe("0");
  });

  it.each(["EMFILE", "ENOMEM", "ENOSPC"])(
    "and could not be recorded for %s contains nothing of a later one: undo does not remove that",
    async code => {
      using fixture = new Fixture({ "tree/f": "old", small: "old" });
      const { workspace, state } = fixture;
      const big = Buffer.alloc(17 * 1024 * 1024, "x");
      const first: Record<string, Change> = {
        "copy/f": { kind: "copy", from: fixture.at("tree"), to: fixture.at("copy") },
        big: { kind: "write", path: fixture.at("big"), bytes: big },
        "copy of small": { kind: "copy", from: fixture.at("small"), to: fixture.at("copy of small") },
      };
      for (const [name, change] of Object.entries(first)) {
        const fail = (_: number, call: string, [at]: readonly unknown[]) => {
          if (String(at).startsWith(join(state, "objects"))) throw errno(code, call);
        };
        const { id } = await watching(fail, () => fixture.commit([change]));
        await fixture.commit([fixture.write(name, "later")]);
        const fault = await undo(workspace, { change: id }).catch(error => error);
        expect(["stale", "not_kept"], name).toContain(fault.code);
        expect(fixture.text(name), name).toBe("later");
      }
    },
  );

  it("can be undone even if it deleted a file while there were too few handles to record it", async () => {
    const files = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`d/${i}/f`, `${i}`]));
    using fixture = new Fixture(files);
    const { open } = sys;
    let refused = 0;
    sys.open = (path, ...rest) => {
      if (!String(path).includes("/objects/")) return open(path, ...rest);
      refused++;
      throw errno("EMFILE", "open");
    };
    try {
      const removed = { kind: "remove", path: fixture.at("d"), recursive: true } as const;
      expect(await fixture.commit([removed])).toMatchObject({ recorded: true });
      await fixture.workspace.settled();
    } finally {
      sys.open = open;
    }
    expect(refused).toBeGreaterThan(0);
    expect(existsSync(join(fixture.inside, "d"))).toBe(false);
    const [change] = await listChanges(fixture.workspace, { limit: 1 });
    expect(change).toMatchObject({ kept: true });
    await undo(fixture.workspace, { change: change?.id ?? "" });
    expect(fixture.text("d/7/f")).toBe("7");
    await fixture.workspace.settled();
    expect(readdirSync(fixture.inside)).toEqual(["d"]);
  });

  it("is not recorded yet, but is in the history when it is requested", async () => {
    using fixture = new Fixture({ a: "old" });
    const { id } = await fixture.commit([fixture.write("a", "new")]);
    expect(existsSync(join(fixture.state, "changes"))).toBe(false);
    expect((await listChanges(fixture.workspace, { limit: 10 })).map(change => change.id)).toEqual([id]);
    await undo(fixture.workspace, { change: id });
    expect(fixture.text("a")).toBe("old");
  });

  it("leaves nothing temporary in the directory", async () => {
    using fixture = new Fixture({ a: "old", b: "old" });
    await fixture.commit([fixture.write("a", "new"), fixture.write("b", "new ".repeat(large))]);
    expect(readdirSync(fixture.inside).sort()).toEqual(["a", "b"]);
  });

  it("is recorded soon, and then no old content is left anywhere but in the archive", async () => {
    using fixture = new Fixture({ a: "old", b: "old ".repeat(large) });
    await fixture.commit([fixture.write("a", "new"), fixture.write("b", "new ".repeat(large))]);
    await fixture.workspace.settled();
    expect(readdirSync(join(fixture.state, "changes"))).toHaveLength(1);
    expect(readdirSync(join(fixture.state, "aside"))).toEqual([]);
  });

  for (const [words, what] of [
    [1, "a small file"],
    [large, "a file too large for the journal"],
  ] as const) {
    it(`can be undone when the process was killed before it was recorded: ${what}`, async () => {
      using fixture = new Fixture({ a: "old" });
      expect(spawnSync(process.execPath, [worker.path, "answered", fixture.base, String(words)]).signal).toBe(
        "SIGKILL",
      );
      expect(existsSync(join(fixture.state, "changes"))).toBe(false);
      const [change] = await listChanges(fixture.workspace, { limit: 10 });
      await undo(fixture.workspace, { change: change?.id ?? "" });
      expect(fixture.text("a")).toBe("old");
    });

    it(`is recorded as it was, though another program has written there since: ${what}`, async () => {
      using fixture = new Fixture({ a: "old" });
      spawnSync(process.execPath, [worker.path, "answered", fixture.base, String(words)]);
      fixture.put("a", "theirs");
      const [change] = await listChanges(fixture.workspace, { limit: 10 });
      const hash = contentHash(Buffer.from("new ".repeat(words)));
      expect(change?.files[0]?.after).toMatchObject({ kind: "file", hash });
      expect(fixture.text("a")).toBe("theirs");
    });
  }
});

describe("old content", () => {
  it("is the old content even if another hard link is written at once", async () => {
    using fixture = new Fixture({ a: "old" });
    linkSync(join(fixture.inside, "a"), join(fixture.inside, "b"));
    const { id } = await fixture.commit([fixture.write("a", "new")]);
    writeFileSync(join(fixture.inside, "b"), "theirs");
    await undo(fixture.workspace, { change: id });
    expect(fixture.text("a")).toBe("old");
    expect(fixture.text("b")).toBe("theirs");
  });

  it("stays in place if the state directory refuses it, and nothing is lost", async () => {
    using fixture = new Fixture({ a: "old a", b: "old b" });
    const { link } = sys;
    let refused = 0;
    sys.link = (from, to) => {
      if (String(from).endsWith("/b") && refused++ === 0) throw errno("EXDEV", "link");
      link(from, to);
    };
    try {
      await fixture.commit([fixture.write("a", "new a"), fixture.write("b", "new b")]);
    } finally {
      sys.link = link;
    }
    expect(refused).toBe(2);
    expect(fixture.tree()).toEqual({ a: "new a", b: "new b" });
    const [change] = await listChanges(fixture.workspace, { limit: 10 });
    await undo(fixture.workspace, { change: change?.id ?? "" });
    expect(fixture.tree()).toEqual({ a: "old a", b: "old b" });
  });

  it("on another disk than the state directory can be undone too", async context => {
    if (!existsSync("/dev/shm") || statSync("/dev/shm").dev === statSync(tmpdir()).dev)
      return context.skip("there is no other disk");
    using fixture = new Fixture({ a: "old" });
    const state = mkdtempSync("/dev/shm/polyfs-state-");
    try {
      using workspace = Workspace.open([{ path: fixture.inside, access: "read-write" }], { state });
      const { id } = await workspace.commit([
        { kind: "write", path: workspace.at("a"), bytes: Buffer.from("new") },
      ]);
      expect(readdirSync(fixture.inside)).toEqual(["a"]);
      await undo(workspace, { change: id });
      expect(fixture.text("a")).toBe("old");
    } finally {
      rmSync(state, { recursive: true });
    }
  });
});

describe("a record with something else in its place", () => {
  it.each(["mkdir", "mkfifo"])("does not hide other changes: %s", async make => {
    using fixture = new Fixture({ a: "old" });
    const first = await fixture.commit([fixture.write("a", "first")]);
    const second = await fixture.commit([fixture.write("a", "second")]);
    await fixture.workspace.settled();
    const record = join(fixture.state, "changes", `${second.id}.json`);
    rmSync(record);
    expect(spawnSync(make, [record]).status).toBe(0);
    expect((await listChanges(fixture.workspace, { limit: 10 })).map(({ id }) => id)).toEqual([first.id]);
  });
});

describe("a state directory that is cleared away while a process runs", () => {
  for (const part of ["", "locks", "processes", "aside", "objects", "changes"]) {
    it(`is created again, and later changes can be undone: ${part || "all of it"}`, async () => {
      using fixture = new Fixture({ a: "old" });
      await fixture.commit([fixture.write("a", "first")]);
      await fixture.workspace.settled();
      rmSync(join(fixture.state, part), { recursive: true });
      await fixture.commit([fixture.write("a", "old")]);
      const { id } = await fixture.commit([fixture.write("a", "new")]);
      await fixture.workspace.settled();
      await undo(fixture.workspace, { change: id });
      expect(fixture.text("a")).toBe("old");
    });
  }

  it("holds the journal of a process that is killed after that", async () => {
    using fixture = new Fixture({ a: "old" });
    expect(spawnSync(process.execPath, [worker.path, "cleared", fixture.base]).signal).toBe("SIGKILL");
    const [change] = await listChanges(fixture.workspace, { limit: 10 });
    await undo(fixture.workspace, { change: change?.id ?? "" });
    expect(fixture.text("a")).toBe("between");
  });
});

describe("a directory that may be written to and not read", () => {
  it.runIf(hasProc)("includes large files, and does not prevent a journal from restarting", async () => {
    using fixture = new Fixture({ "box/a": "old", b: "old" });
    const box = statSync(join(fixture.inside, "box")).ino;
    const { open } = sys;
    let refused = 0;
    sys.open = (address, flags, mode) => {
      const isDirectory = (Number(flags) & constants.O_DIRECTORY) !== 0;
      if (isDirectory && statSync(address).ino === box && ++refused) throw errno("EACCES", "open");
      return open(address, flags, mode);
    };
    try {
      await fixture.commit([fixture.write("box/a", "new")]);
      await fixture.commit([fixture.write("box/b", "new ".repeat(large))]);
      await expect.poll(() => journalsWithCommits(fixture.state)).toEqual([]);
    } finally {
      sys.open = open;
    }
    expect(refused).toBeGreaterThan(0);
  });
});

function journalsWithCommits(state: string): string[] {
  const processes = join(state, "processes");
  return readdirSync(processes)
    .flatMap(name => ["journal-0", "journal-1"].map(journal => join(processes, name, journal)))
    .filter(path => existsSync(path) && holdsCommits(path) !== undefined);
}
