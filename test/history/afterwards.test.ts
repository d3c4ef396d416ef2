// The archive records a change after its answer. Nobody can tell: not who asks for the history at once, not who
// finds a process killed in between, and not who looks into the directory.
import { spawnSync } from "node:child_process";
import {
  constants,
  existsSync,
  linkSync,
  mkdtempSync,
  readdirSync,
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
import { holdsCommits } from "../../src/engine/workspace/commit/journal.ts";
import { sys } from "../../src/engine/workspace/commit/syscalls.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { bundle } from "../commit/bundle.ts";
import { errno } from "../commit/failing.ts";
import { Ground } from "../commit/ground.ts";

let worker: Awaited<ReturnType<typeof bundle>>;
beforeAll(async () => {
  worker = await bundle("worker.ts");
});
afterAll(() => worker[Symbol.dispose]());

const large = 400_000; // words: more than a journal holds

describe("a change that has just been answered", () => {
  it("is not recorded yet, and is there for who asks for the history", async () => {
    using ground = new Ground({ a: "old" });
    const { id } = await ground.commit([ground.write("a", "new")]);
    expect(existsSync(join(ground.state, "changes"))).toBe(false);
    expect((await listChanges(ground.workspace, { limit: 10 })).map(change => change.id)).toEqual([id]);
    await undo(ground.workspace, { change: id });
    expect(ground.text("a")).toBe("old");
  });

  it("leaves nothing temporary in the directory", async () => {
    using ground = new Ground({ a: "old", b: "old" });
    await ground.commit([ground.write("a", "new"), ground.write("b", "new ".repeat(large))]);
    expect(readdirSync(ground.inside).sort()).toEqual(["a", "b"]);
  });

  it("is recorded soon, and then no old content is left anywhere but in the archive", async () => {
    using ground = new Ground({ a: "old", b: "old ".repeat(large) });
    await ground.commit([ground.write("a", "new"), ground.write("b", "new ".repeat(large))]);
    await ground.workspace.settled();
    expect(readdirSync(join(ground.state, "changes"))).toHaveLength(1);
    expect(readdirSync(join(ground.state, "aside"))).toEqual([]);
  });

  for (const [words, what] of [
    [1, "a small file"],
    [large, "a file too large for the journal"],
  ] as const) {
    it(`can be taken back when the process was killed before it was recorded: ${what}`, async () => {
      using ground = new Ground({ a: "old" });
      expect(spawnSync(process.execPath, [worker.path, "answered", ground.base, String(words)]).signal).toBe(
        "SIGKILL",
      );
      expect(existsSync(join(ground.state, "changes"))).toBe(false);
      const [change] = await listChanges(ground.workspace, { limit: 10 });
      await undo(ground.workspace, { change: change?.id ?? "" });
      expect(ground.text("a")).toBe("old");
    });

    it(`is recorded as it was, though somebody has written there since: ${what}`, async () => {
      using ground = new Ground({ a: "old" });
      spawnSync(process.execPath, [worker.path, "answered", ground.base, String(words)]);
      ground.put("a", "theirs");
      const [change] = await listChanges(ground.workspace, { limit: 10 });
      const hash = contentHash(Buffer.from("new ".repeat(words)));
      expect(change?.files[0]?.after).toMatchObject({ kind: "file", hash });
      expect(ground.text("a")).toBe("theirs");
    });
  }
});

describe("old content", () => {
  it("is what it was also where somebody writes to another name of the file at once", async () => {
    using ground = new Ground({ a: "old" });
    linkSync(join(ground.inside, "a"), join(ground.inside, "b"));
    const { id } = await ground.commit([ground.write("a", "new")]);
    writeFileSync(join(ground.inside, "b"), "theirs");
    await undo(ground.workspace, { change: id });
    expect(ground.text("a")).toBe("old");
    expect(ground.text("b")).toBe("theirs");
  });

  it("is kept where it stood when the state directory will not take it, and nothing is lost", async () => {
    using ground = new Ground({ a: "old a", b: "old b" });
    const { link } = sys;
    let refused = 0;
    sys.link = (from, to) => {
      if (String(from).endsWith("/b") && refused++ === 0) throw errno("EXDEV", "link");
      link(from, to);
    };
    try {
      await ground.commit([ground.write("a", "new a"), ground.write("b", "new b")]);
    } finally {
      sys.link = link;
    }
    expect(refused).toBe(2);
    expect(ground.tree()).toEqual({ a: "new a", b: "new b" });
    const [change] = await listChanges(ground.workspace, { limit: 10 });
    await undo(ground.workspace, { change: change?.id ?? "" });
    expect(ground.tree()).toEqual({ a: "old a", b: "old b" });
  });

  it("on another disk than the state directory can be taken back too", async context => {
    if (!existsSync("/dev/shm") || statSync("/dev/shm").dev === statSync(tmpdir()).dev)
      return context.skip("there is no other disk");
    using ground = new Ground({ a: "old" });
    const state = mkdtempSync("/dev/shm/polyfs-state-");
    try {
      using workspace = Workspace.open([{ path: ground.inside, access: "read-write" }], { state });
      const { id } = await workspace.commit([
        { kind: "write", path: workspace.at("a"), bytes: Buffer.from("new") },
      ]);
      expect(readdirSync(ground.inside)).toEqual(["a"]);
      await undo(workspace, { change: id });
      expect(ground.text("a")).toBe("old");
    } finally {
      rmSync(state, { recursive: true });
    }
  });
});

describe("a state directory that is cleared away while a process runs", () => {
  for (const part of ["", "locks", "processes", "aside", "objects", "changes"]) {
    it(`is made anew, and later changes can be taken back: ${part || "all of it"}`, async () => {
      using ground = new Ground({ a: "old" });
      await ground.commit([ground.write("a", "first")]);
      await ground.workspace.settled();
      rmSync(join(ground.state, part), { recursive: true });
      await ground.commit([ground.write("a", "old")]);
      const { id } = await ground.commit([ground.write("a", "new")]);
      await ground.workspace.settled();
      await undo(ground.workspace, { change: id });
      expect(ground.text("a")).toBe("old");
    });
  }

  it("holds the journal of a process that is killed after that", async () => {
    using ground = new Ground({ a: "old" });
    expect(spawnSync(process.execPath, [worker.path, "cleared", ground.base]).signal).toBe("SIGKILL");
    const [change] = await listChanges(ground.workspace, { limit: 10 });
    await undo(ground.workspace, { change: change?.id ?? "" });
    expect(ground.text("a")).toBe("between");
  });
});

describe("a directory that may be written to and not read", () => {
  it("takes large files too, and does not keep a journal from starting anew", async () => {
    using ground = new Ground({ "box/a": "old", b: "old" });
    const box = statSync(join(ground.inside, "box")).ino;
    const { open } = sys;
    let refused = 0;
    sys.open = (address, flags, mode) => {
      const isDirectory = (Number(flags) & constants.O_DIRECTORY) !== 0;
      if (isDirectory && statSync(address).ino === box && ++refused) throw errno("EACCES", "open");
      return open(address, flags, mode);
    };
    try {
      await ground.commit([ground.write("box/a", "new")]);
      await ground.commit([ground.write("box/b", "new ".repeat(large))]);
      await expect.poll(() => journalsWithCommits(ground.state)).toEqual([]);
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
