import { spawnSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readJournal } from "../../src/engine/workspace/commit/journal.ts";
import { sys } from "../../src/engine/workspace/disk/syscalls.ts";
import { bundle } from "./bundle.ts";
import { errno } from "./failing.ts";
import { Fixture } from "./fixture.ts";
import { reboot } from "./reboot.ts";
import { scenarios } from "./scenarios.ts";

let worker: Awaited<ReturnType<typeof bundle>>;
beforeAll(async () => {
  worker = await bundle("worker.ts");
});
afterAll(() => worker[Symbol.dispose]());

const names = Array.from({ length: 4 }, (_, i) => `f${i}`);

/** Files patched from old to new by a process that is gone before anything was flushed to its place. */
function patched(): Fixture {
  const fixture = new Fixture(Object.fromEntries(names.map(name => [name, `old ${name}`])));
  for (const name of names) linkSync(join(fixture.inside, name), join(fixture.outside, name));
  spawnSync(process.execPath, [worker.path, "lastWords", fixture.base, "2"]);
  expect(fixture.text("f0")).toBe("new f0");
  return fixture;
}

describe("after the power failed, with a commit acknowledged and nothing flushed but the journal", () => {
  it("files that came back empty, full of zeros, or old become what the journal says", () => {
    using fixture = patched();
    truncateSync(join(fixture.inside, "f1"), 0);
    writeFileSync(join(fixture.inside, "f2"), Buffer.alloc(6));
    renameSync(join(fixture.outside, "f3"), join(fixture.inside, "f3"));
    expect(fixture.text("f3")).toBe("old f3");
    reboot(fixture);
    fixture.workspace.at("f0");
    expect(fixture.tree()).toEqual(Object.fromEntries(names.map(name => [name, `new ${name}`])));
  });

  it("a file that was changed since stays as it is", () => {
    using fixture = patched();
    writeFileSync(join(fixture.inside, "f1"), "theirs, and longer than it was");
    reboot(fixture);
    fixture.workspace.at("f0");
    expect(fixture.text("f1")).toBe("theirs, and longer than it was");
  });

  it("is in the history even if another process replaced its file since and no longer has a journal of that", () => {
    using fixture = new Fixture({ a: "old" });
    spawnSync(process.execPath, [worker.path, "answered", fixture.base, "2"]);
    const at = join(fixture.inside, "a");
    writeFileSync(join(fixture.inside, "new"), "later");
    renameSync(join(fixture.inside, "new"), at);
    const changes = join(fixture.state, "changes");
    mkdirSync(changes, { recursive: true });
    const files = [{ at, effect: "modified", kind: "file" }];
    const later = {
      id: "zzzzzzzzzzz",
      time: Date.now(),
      action: "test",
      client: "",
      parents: [],
      kept: false,
    };
    writeFileSync(join(changes, `${later.id}.json`), JSON.stringify({ ...later, files }));
    reboot(fixture, "done");
    fixture.workspace.at("a");
    expect(fixture.text("a")).toBe("later");
    const [recorded, ...others] = [...fixture.workspace.archive.changes.newest()].reverse();
    expect(others.map(({ id }) => id)).toEqual([later.id]);
    expect(recorded?.files.map(({ before, after }) => [before?.kind, after?.kind])).toEqual([
      ["file", "file"],
    ]);
  });

  it("a read-only directory that came back writable is closed again, and one with another mode since stays", () => {
    using fixture = new Fixture({ a: "a" });
    const number = scenarios.findIndex(({ name }) => name.includes("read-only"));
    spawnSync(process.execPath, [worker.path, "lastWords", fixture.base, String(number)]);
    const mode = (name: string) => statSync(join(fixture.inside, name)).mode & 0o777;
    expect([mode("t"), mode("t/u")]).toEqual([0o555, 0o500]);
    chmodSync(join(fixture.inside, "t"), 0o750);
    chmodSync(join(fixture.inside, "t/u"), 0o700);
    reboot(fixture);
    fixture.workspace.at("a");
    expect([mode("t"), mode("t/u")]).toEqual([0o750, 0o500]);
    expect(fixture.text("t/u/x")).toBe("x");
  });

  it("without a power cut, an emptied file is a change like any other", () => {
    using fixture = patched();
    truncateSync(join(fixture.inside, "f1"), 0);
    fixture.workspace.at("f0");
    expect(fixture.text("f1")).toBe("");
    expect(fixture.text("f2")).toBe("new f2");
  });

  it("what cannot be recovered is tried again by the next process that starts", () => {
    using fixture = patched();
    truncateSync(join(fixture.inside, "f1"), 0);
    reboot(fixture);
    const { flush } = sys;
    sys.flush = () => {
      throw errno("EIO", "fsync");
    };
    try {
      fixture.workspace.at("f0");
    } finally {
      sys.flush = flush;
    }
    expect(fixture.text("f1")).toBe("");
    fixture.reopen();
    fixture.workspace.at("f0");
    expect(fixture.text("f1")).toBe("new f1");
  });
});

describe("after a process was killed, with a commit acknowledged and nothing flushed but the journal", () => {
  it("the files and their directory are flushed before the journal is removed, because the power may fail next", () => {
    using fixture = patched();
    const { flush, unlink } = sys;
    const flushed = new Set<number>();
    let flushedBefore: number[] = [];
    sys.flush = fd => {
      flush(fd);
      flushed.add(sys.stat(fd).ino);
    };
    sys.unlink = path => {
      if (String(path).includes("journal-")) flushedBefore = [...flushed];
      unlink(path);
    };
    try {
      fixture.workspace.at("f0");
    } finally {
      Object.assign(sys, { flush, unlink });
    }
    const paths = [fixture.inside, ...names.map(name => join(fixture.inside, name))];
    expect(flushedBefore).toEqual(expect.arrayContaining(paths.map(path => statSync(path).ino)));
  });

  it("the journal stays where they cannot be flushed, and the next process flushes them", () => {
    using fixture = patched();
    const processes = join(fixture.state, "processes");
    const [dead = ""] = readdirSync(processes);
    const { flush } = sys;
    sys.flush = () => {
      throw errno("EIO", "fsync");
    };
    try {
      fixture.workspace.at("f0");
    } finally {
      sys.flush = flush;
    }
    expect(readdirSync(processes)).toContain(dead);
    fixture.reopen();
    fixture.workspace.at("f0");
    expect(readdirSync(processes)).not.toContain(dead);
    expect(fixture.tree()).toEqual(Object.fromEntries(names.map(name => [name, `new ${name}`])));
  });
});

describe("after the power failed, with a file too large for the journal committed there and not in its place yet", () => {
  const repeats = 300_000;
  const whole = "new ".repeat(repeats);

  /** The fixture, and the temporary file that was to become `a`. */
  function committed() {
    const fixture = new Fixture({ a: "old" });
    spawnSync(process.execPath, [worker.path, "marked", fixture.base, String(repeats)]);
    const staged = readdirSync(fixture.inside).filter(name => name !== "a");
    expect([fixture.text("a"), staged.length]).toEqual(["old", 1]);
    return { fixture, staged: join(fixture.inside, staged[0] ?? "") };
  }

  it("the new content is put in place if all of it is on the disk", () => {
    const { fixture } = committed();
    using _ = fixture;
    reboot(fixture);
    fixture.workspace.at("a");
    expect(fixture.tree()).toEqual({ a: whole });
  });

  it.each([
    ["was cut short", (file: string) => truncateSync(file, 4096)],
    ["is full of zeros", (file: string) => writeFileSync(file, Buffer.alloc(whole.length))],
    ["is gone", (file: string) => rmSync(file)],
  ])("the old content stays where the new one %s", (_, damage) => {
    const { fixture, staged } = committed();
    using __ = fixture;
    damage(staged);
    reboot(fixture);
    fixture.workspace.at("a");
    expect(fixture.tree()).toEqual({ a: "old" });
  });
});

describe("a file that moves to another directory", () => {
  it("does not come back under its old name, which was still on the disk, after it was edited", () => {
    using fixture = new Fixture({ a: "old", "d/other": "" });
    linkSync(join(fixture.inside, "a"), join(fixture.outside, "a"));
    spawnSync(process.execPath, [worker.path, "movedAndEdited", fixture.base]);
    expect(fixture.text("d/a")).toBe("edited");
    renameSync(join(fixture.outside, "a"), join(fixture.inside, "a")); // the removal of the name was not flushed
    reboot(fixture);
    fixture.workspace.at("d");
    expect(fixture.tree()).toEqual({ "d/": "/", "d/a": "edited", "d/other": "" });
  });

  it("keeps its old name until the new one and all directories above it are on the disk", async () => {
    using fixture = new Fixture({ a: "old" });
    const { workspace, inside } = fixture;
    const { flush, unlink } = sys;
    const flushed = new Set<number>();
    let missing: string[] | undefined;
    sys.flush = fd => {
      flush(fd);
      flushed.add(sys.stat(fd).ino);
    };
    sys.unlink = address => {
      if (String(address).endsWith("/a"))
        missing = ["", "new", "new/deep"].filter(path => !flushed.has(statSync(join(inside, path)).ino));
      unlink(address);
    };
    try {
      const change = { kind: "move", from: workspace.at("a"), to: workspace.at("new/deep/a") } as const;
      await workspace.commit([change], { parents: true });
    } finally {
      Object.assign(sys, { flush, unlink });
    }
    expect(missing).toEqual([]);
  });
});

describe("while a flush is under way", () => {
  it("a removal in a directory that is already flushed waits for the commits of the whole batch", async () => {
    using fixture = new Fixture({ "one/a": "old", "two/b": "old" });
    const { workspace } = fixture;
    const write = (name: string) =>
      workspace.commit([{ kind: "write", path: workspace.at(name), bytes: Buffer.from("new") }], {});
    const { flushLater } = sys;
    const two = statSync(join(fixture.inside, "two")).ino;
    let release = () => {};
    const held = new Promise<void>(resolve => {
      release = resolve;
    });
    let reach = () => {};
    const reached = new Promise<void>(resolve => {
      reach = resolve;
    });
    sys.flushLater = async fd => {
      if (sys.stat(fd).ino === two) {
        reach();
        await held;
      }
      await flushLater(fd);
    };
    try {
      const first = await write("one/a");
      await write("two/b");
      await reached; // the checkpoint has flushed the first directory and is at the second
      const removed = workspace.commit([{ kind: "remove", path: workspace.at("one/a") }], {});
      setTimeout(release, 100);
      const { id } = await removed;
      const intents = journalRecords(fixture).filter(({ is }) => is === "intent");
      // Recovery must not write the file again.
      expect(intents.find(one => one.id === id)?.flushed).toContain(first.id);
    } finally {
      sys.flushLater = flushLater;
      release();
    }
  });
});

function journalRecords(fixture: Fixture): { is: string; id?: string; flushed?: string[] }[] {
  const processes = join(fixture.state, "processes");
  const key = readFileSync(join(fixture.state, "key"));
  return readdirSync(processes).flatMap(folder =>
    readdirSync(join(processes, folder))
      .filter(name => name.startsWith("journal-"))
      .flatMap(name => readJournal(join(processes, folder, name), key))
      .map(({ body }) => body as { is: string }),
  );
}
