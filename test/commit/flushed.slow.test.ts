// What is on the disk before a call is answered, as a recording of the server's flushes shows.
import {
  fstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { contentHash } from "../../src/engine/text/version.ts";
import { FlushedDirectories } from "../../src/engine/workspace/commit/durable-directory.ts";
import { holdsCommits, Journal } from "../../src/engine/workspace/commit/journal.ts";
import { Unflushed } from "../../src/engine/workspace/commit/unflushed.ts";
import { HeldDirectories } from "../../src/engine/workspace/disk/held-directories.ts";
import { sys } from "../../src/engine/workspace/disk/syscalls.ts";
import { isTemporaryName } from "../../src/engine/workspace/disk/temporary.ts";
import { Handle } from "../../src/engine/workspace/handle.ts";
import { type ProcessWire, start } from "../mcp/wire.ts";
import { Fixture } from "./fixture.ts";
import { mountSmall } from "./small-disk.ts";

interface Entry {
  readonly op: string;
  readonly ino?: number;
  /** Of a flush: its beginning and its end have the same. */
  readonly flush?: string;
  readonly at?: readonly [number, string];
  readonly text?: string;
}

const recorder = pathToFileURL(join(import.meta.dirname, "../../proof/power/recorder-program.mjs")).href;

/** A server whose file system calls are recorded. */
class Recorded {
  readonly #log: string;
  readonly wire: Promise<ProcessWire>;

  constructor(fixture: Fixture) {
    this.#log = join(fixture.base, "log");
    const env = { NODE_OPTIONS: `--import ${recorder}`, PROOF_POWER_LOG: this.#log };
    this.wire = start({
      roots: [fixture.inside],
      args: ["--allow-run=unsandboxed", "--state-dir", fixture.state],
      env,
    });
  }

  /** What happened up to the newest answer. */
  untilAnswer(): Entry[] {
    const lines = readFileSync(this.#log, "utf8").split("\n");
    const entries = lines.filter(line => line !== "").map(line => JSON.parse(line) as Entry);
    return entries.slice(
      0,
      entries.findLastIndex(({ op }) => op === "answer"),
    );
  }
}

/** Whether a file or directory was flushed, and nothing was put under this name in it since. */
function isFlushed(entries: readonly Entry[], path: string, name?: string): boolean {
  const { ino } = statSync(path);
  const named =
    name === undefined ? -1 : entries.findLastIndex(one => one.at?.[0] === ino && one.at[1] === name);
  const begun = (flush: string | undefined) =>
    entries.findIndex(one => one.op === "flushing" && one.flush === flush);
  return entries.some(one => one.op === "synced" && one.ino === ino && begun(one.flush) > named);
}

describe.runIf(process.platform === "linux")("before the answer", () => {
  it("the record of a command's changes and the contents in it are flushed", async () => {
    using fixture = new Fixture({ a: "before the command\n" });
    const recorded = new Recorded(fixture);
    await using wire = await recorded.wire;
    await wire.initialize();
    const answer = await wire.call("run_command", { command: "echo after > a" });
    expect(JSON.stringify(answer)).toContain("undo");
    const until = recorded.untilAnswer();
    const changes = join(fixture.state, "changes");
    const [change = ""] = readdirSync(changes);
    expect(isFlushed(until, join(changes, change))).toBe(true);
    expect(isFlushed(until, changes, change)).toBe(true);
    for (const content of ["before the command\n", "after\n"]) {
      const hash = contentHash(Buffer.from(content));
      const folder = join(fixture.state, "objects", hash.slice(0, 2));
      expect(isFlushed(until, join(folder, hash.slice(2)))).toBe(true);
      expect(isFlushed(until, folder, hash.slice(2))).toBe(true);
    }
  });

  it("a file and its directory are flushed where the state directory is in memory", async ({ skip }) => {
    using fixture = new Fixture({ a: "a" });
    await using mount = mountSmall(fixture.state);
    skip(!mount.mounted, "needs permission to mount a file system");
    const recorded = new Recorded(fixture);
    await using wire = await recorded.wire;
    await wire.initialize();
    await wire.call("write_file", { path: "a", content: "new" });
    const until = recorded.untilAnswer();
    expect(fixture.text("a")).toBe("new");
    expect(isFlushed(until, join(fixture.inside, "a"))).toBe(true);
    expect(isFlushed(until, fixture.inside, "a")).toBe(true);
  });
});

/** Whether a journal was flushed since the last record was put in it. */
function isJournalFlushed(entries: readonly Entry[], journals: readonly number[]): boolean {
  const written = entries.findLastIndex(({ op, ino = 0 }) => op === "write" && journals.includes(ino));
  const begun = (flush: string | undefined) =>
    entries.findIndex(one => one.op === "flushing" && one.flush === flush);
  const isSince = ({ op, ino = 0, flush }: Entry) =>
    op === "synced" && journals.includes(ino) && begun(flush) > written;
  return written >= 0 && entries.some(isSince);
}

describe.runIf(process.platform === "linux")("before content is staged that will be flushed", () => {
  const large = "x".repeat(2_000_000);
  it.each([
    ["a copy of a directory", "copy_path", { from: "d", to: "e" }],
    ["a copy of a link", "copy_path", { from: "l", to: "m" }],
    ["a large new file", "write_file", { path: "new", content: large }],
    ["a large file that is replaced", "write_file", { path: "a", content: large }],
    ["a large file that is edited", "edit_file", { path: "large", edits: [{ insert_after: 0, new: "y" }] }],
  ])("the journal names it on the disk, or a power cut would leave it: %s", async (_, tool, call) => {
    using fixture = new Fixture({ a: "a", "d/b": "b", "d/c/e": "e", large });
    symlinkSync("a", join(fixture.inside, "l"));
    const recorded = new Recorded(fixture);
    await using wire = await recorded.wire;
    await wire.initialize();
    const { isError, content } = await wire.call(tool, call);
    expect(isError, JSON.stringify(content)).not.toBe(true);
    const until = recorded.untilAnswer();
    const { ino } = statSync(fixture.inside);
    const staged = until.findIndex(({ at }) => at?.[0] === ino && isTemporaryName(at[1]));
    expect(staged).toBeGreaterThan(0);
    const names = readdirSync(fixture.state, { encoding: "utf8", recursive: true });
    const journals = names.filter(name => basename(name).startsWith("journal-"));
    const inodes = journals.map(name => statSync(join(fixture.state, name)).ino);
    expect(inodes).not.toEqual([]);
    expect(isJournalFlushed(until.slice(0, staged), inodes)).toBe(true);
  });
});

/** Removes a directory in which a server still writes. */
function clear(path: string): void {
  for (let left = 100; ; left--) {
    try {
      rmSync(path, { recursive: true, force: true });
      return;
    } catch (error) {
      if (left === 0) throw error;
    }
  }
}

describe("a state directory that is cleared while a server runs", () => {
  it.each([
    ["all that is in it", (state: string) => readdirSync(state).map(name => join(state, name))],
    ["itself", (state: string) => [state]],
  ])("%s: answered changes stay, nothing is left behind, and the next change works", async (_, what) => {
    using fixture = new Fixture({ a: "a", "d/b": "b" });
    await using wire = await start({ roots: [fixture.inside], args: ["--state-dir", fixture.state] });
    await wire.initialize();
    await wire.call("write_file", { path: "a", content: "first" });
    await wire.call("delete_path", { path: "d", recursive: true });
    for (const path of what(fixture.state)) clear(path);
    const { isError, content } = await wire.call("write_file", { path: "c", content: "next" });
    expect(isError, JSON.stringify(content)).not.toBe(true);
    expect(readdirSync(fixture.inside).sort()).toEqual(["a", "c"]);
    expect([fixture.text("a"), fixture.text("c")]).toEqual(["first", "next"]);
    await wire.call("undo", {});
    expect(readdirSync(fixture.inside)).toEqual(["a"]);
    wire.child.stdin?.end();
    await wire.exited();
    expect(readdirSync(fixture.inside)).toEqual(["a"]);
  });
});

describe("a temporary name that a power cut brings back", () => {
  it("is removed at the next start; a file that no change mentions stays", async () => {
    using fixture = new Fixture({ "d/a": "a" });
    const args = ["--state-dir", fixture.state];
    {
      await using wire = await start({ roots: [fixture.inside], args });
      await wire.initialize();
      await wire.call("write_file", { path: "d/a", content: "new" });
      await wire.call("move_path", { from: "d", to: "e" });
      wire.child.stdin?.end();
      await wire.exited();
    }
    const [name = ""] = namesUsed(fixture.state);
    expect(isTemporaryName(name)).toBe(true);
    const other = `.polyfs-${"0123456789abcdef".repeat(2)}.tmp`;
    for (const one of [name, other]) writeFileSync(join(fixture.inside, "e", one), "left");
    writeFileSync(join(fixture.state, "boot"), "another");
    await using wire = await start({ roots: [fixture.inside], args });
    await wire.initialize();
    await wire.call("list_directory", {});
    expect(readdirSync(join(fixture.inside, "e")).sort()).toEqual([other, "a"].sort());
  });
});

/** The temporary names in the history. */
function namesUsed(state: string): string[] {
  return readdirSync(join(state, "changes")).flatMap(name => {
    const { temporary = [] } = JSON.parse(readFileSync(join(state, "changes", name), "utf8"));
    return temporary.flatMap(({ names }: { names: string[] }) => names);
  });
}

describe("a journal that many commits write at the same time", () => {
  const count = 64;

  /** Appends and flushes a record for each commit. The first is large, so that its flush takes place in a thread. */
  async function flushTogether(flush: (fd: number) => Promise<void>) {
    using fixture = new Fixture();
    const journal = new Journal(join(fixture.base, "journal"), 1, Buffer.alloc(32));
    const original = sys.flushDataLater;
    sys.flushDataLater = flush;
    try {
      return await Promise.allSettled(
        Array.from({ length: count }, async (_, i) => {
          journal.append({ is: "commit", id: i }, i === 0 ? [Buffer.alloc(512 * 1024)] : []);
          await journal.flush();
        }),
      );
    } finally {
      sys.flushDataLater = original;
      journal.close();
    }
  }

  it("is flushed a few times for all of them", async () => {
    const original = sys.flushDataLater;
    let flushes = 0;
    const results = await flushTogether(fd => {
      flushes++;
      return original(fd);
    });
    expect(results.every(({ status }) => status === "fulfilled")).toBe(true);
    expect(flushes).toBeLessThan(4);
  });

  it("fails them all where the flush under way fails, since the system reports it only once", async () => {
    const results = await flushTogether(() => Promise.reject(new Error("EIO")));
    expect(results.every(({ status }) => status === "rejected")).toBe(true);
  });
});

it("a directory that was moved between two commits is flushed where it is now", () => {
  using fixture = new Fixture({ "d/a": "a", "d/b": "b" });
  const unflushed = new Unflushed();
  const { ino, dev } = statSync(join(fixture.inside, "d"));
  const note = (id: string, directory: string) => {
    const record = { at: join(fixture.inside, directory), device: dev, inode: ino };
    using places = HeldDirectories.reopen([record]);
    unflushed.note(
      id,
      [{ do: "make", at: { place: 0, name: id }, mode: 0o755, given: "" }],
      places,
      () => false,
    );
  };
  note("a", "d");
  renameSync(join(fixture.inside, "d"), join(fixture.inside, "e"));
  note("b", "e");
  const flushed: number[] = [];
  const { flush } = sys;
  sys.flush = fd => {
    flushed.push(fstatSync(fd).ino);
    flush(fd);
  };
  try {
    unflushed.flushNow();
  } finally {
    sys.flush = flush;
  }
  expect(flushed).toContain(ino);
});

describe("directories that another program has just made", () => {
  it("are flushed with what is put into them, before its journal goes", async () => {
    using fixture = new Fixture({ "new/deep/other": "" });
    const flushed = await flushedBy(async () => {
      await fixture.commit([fixture.write("new/deep/a", "a")]);
      while (!isRestarted(fixture)) await new Promise(resolve => setTimeout(resolve, 10));
    });
    expect(inodesOf(fixture).filter(inode => !flushed.has(inode))).toEqual([]);
  });

  it("are flushed before the answer, if the journal does not hold what is put into them", async () => {
    using fixture = new Fixture({ "new/deep/other": "" });
    const large = fixture.write("new/deep/a", "large".repeat(100_000));
    const flushed = await flushedBy(() => fixture.commit([large]));
    expect(inodesOf(fixture).filter(inode => !flushed.has(inode))).toEqual([]);
  });

  it("have their names flushed before the answer, or recovery would find no place for a small file", async () => {
    using fixture = new Fixture({ "new/deep/other": "" });
    const flushed = await flushedBy(() => fixture.commit([fixture.write("new/deep/a", "a")]));
    expect(
      inodesOf(fixture)
        .slice(0, -1)
        .filter(inode => !flushed.has(inode)),
    ).toEqual([]);
  });

  it("have the names further above flushed, too, if one was moved", async () => {
    using fixture = new Fixture({ "old/deep/deeper/other": "", "old/deep/deeper/large/other": "" });
    const now = Date.now;
    await new Promise(resolve => setTimeout(resolve, 1500));
    renameSync(join(fixture.inside, "old"), join(fixture.inside, "new"));
    const { ino } = statSync(fixture.inside);
    // Everything but the renamed directory and its parent has been the same for ten minutes.
    Date.now = () => now() + 10 * 60_000 - 1000;
    try {
      const small = await flushedBy(() => fixture.commit([fixture.write("new/deep/deeper/a", "a")]));
      expect(small).toContain(ino);
      const large = fixture.write("new/deep/deeper/large/a", "large".repeat(100_000));
      expect(await flushedBy(() => fixture.commit([large]))).toContain(ino);
    } finally {
      Date.now = now;
    }
  });

  it.each([
    ["moved", (from: string, to: string) => renameSync(from, to)],
    [
      "recreated under the same name",
      (from: string) => {
        rmSync(from, { recursive: true });
        mkdirSync(from);
      },
    ],
  ])("and the same after it was %s", async (_, change) => {
    using fixture = new Fixture({ "new/deep/other": "" });
    await fixture.commit([fixture.write("new/deep/a", "a")]);
    await fixture.workspace.allRecorded();
    change(join(fixture.inside, "new/deep"), join(fixture.inside, "new/moved"));
    const [name = ""] = readdirSync(join(fixture.inside, "new"));
    const { ino } = statSync(join(fixture.inside, "new"));
    const flushed = await flushedBy(() => fixture.commit([fixture.write(`new/${name}/b`, "b")]));
    expect(flushed).toContain(ino);
  });

  const inodesOf = ({ inside }: Fixture) =>
    ["", "new", "new/deep"].map(path => statSync(join(inside, path)).ino);

  /** Whether the journal holds no commit any more. */
  function isRestarted({ state }: Fixture): boolean {
    const processes = join(state, "processes");
    const journals = readdirSync(processes).flatMap(name => {
      const folder = join(processes, name);
      return readdirSync(folder).flatMap(one => (one.startsWith("journal-") ? [join(folder, one)] : []));
    });
    return journals.every(path => holdsCommits(path) === undefined);
  }

  /** The inodes of what was flushed while an action ran. */
  async function flushedBy(action: () => Promise<unknown>): Promise<Set<number>> {
    const { flush, flushLater } = sys;
    const flushed = new Set<number>();
    sys.flush = fd => {
      flush(fd);
      flushed.add(sys.stat(fd).ino);
    };
    sys.flushLater = async fd => {
      const { ino } = sys.stat(fd);
      await flushLater(fd);
      flushed.add(ino);
    };
    try {
      await action();
    } finally {
      Object.assign(sys, { flush, flushLater });
    }
    return flushed;
  }
});

it("a directory that was passed on the way up from another one is flushed when it is asked for itself", () => {
  using fixture = new Fixture();
  const outer = join(fixture.inside, "outer");
  mkdirSync(join(outer, "inner"), { recursive: true });
  const flushed = new FlushedDirectories();
  const asked = (path: string) => {
    using directory = Handle.open(path);
    return [...flushed.toFlush(directory)].length;
  };
  const later = Date.now() + 60 * 60_000;
  const clock = vi.spyOn(Date, "now").mockReturnValue(later);
  onTestFinished(() => clock.mockRestore());
  expect([asked(join(outer, "inner")), asked(outer), asked(outer)]).toEqual([1, 1, 0]);
});
