import { spawnSync } from "node:child_process";
import {
  linkSync,
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
import { Journal, readJournal } from "../../src/engine/workspace/commit/journal.ts";
import { sys } from "../../src/engine/workspace/commit/syscalls.ts";
import { bundle } from "./bundle.ts";
import { errno } from "./failing.ts";
import { Ground } from "./ground.ts";

let worker: Awaited<ReturnType<typeof bundle>>;
beforeAll(async () => {
  worker = await bundle("worker.ts");
});
afterAll(() => worker[Symbol.dispose]());

const anotherBoot = "00000000-0000-4000-8000-000000000000";
const names = Array.from({ length: 4 }, (_, i) => `f${i}`);

/** Files patched from old to new by a process that is gone before anything was flushed to its place. */
function patched(): Ground {
  const ground = new Ground(Object.fromEntries(names.map(name => [name, `old ${name}`])));
  for (const name of names) linkSync(join(ground.inside, name), join(ground.outside, name));
  spawnSync(process.execPath, [worker.path, "lastWords", ground.base, "2"]);
  expect(ground.text("f0")).toBe("new f0");
  return ground;
}

/** Makes the journal look as if the machine had been started anew since. */
function reboot(ground: Ground): void {
  const processes = join(ground.state, "processes");
  const dead = join(processes, readdirSync(processes)[0] ?? "");
  for (const name of readdirSync(dead).filter(name => name.startsWith("journal-"))) {
    const key = readFileSync(join(ground.state, "key"));
    const records = readJournal(join(dead, name), key);
    const journal = new Journal(join(dead, name), records[0]?.generation ?? 1, key);
    for (const { body, blob } of records) journal.append({ ...(body as object), boot: anotherBoot }, [blob]);
    journal.close();
  }
  const owner = join(dead, "owner");
  const identity = JSON.parse(readFileSync(owner, "utf8"));
  // Its heartbeat is fresh: a machine can be up again within seconds.
  writeFileSync(owner, JSON.stringify({ ...identity, world: `${anotherBoot} pid:[4026531836]` }));
}

describe("after the power failed, with a commit acknowledged and nothing flushed but the journal", () => {
  it("files that came back empty, full of zeros, or old are what they were told to be", () => {
    using ground = patched();
    truncateSync(join(ground.inside, "f1"), 0);
    writeFileSync(join(ground.inside, "f2"), Buffer.alloc(6));
    renameSync(join(ground.outside, "f3"), join(ground.inside, "f3"));
    expect(ground.text("f3")).toBe("old f3");
    reboot(ground);
    ground.workspace.at("f0");
    expect(ground.tree()).toEqual(Object.fromEntries(names.map(name => [name, `new ${name}`])));
  });

  it("a file that somebody has changed since stays as it is", () => {
    using ground = patched();
    writeFileSync(join(ground.inside, "f1"), "theirs, and longer than it was");
    reboot(ground);
    ground.workspace.at("f0");
    expect(ground.text("f1")).toBe("theirs, and longer than it was");
  });

  it("without a power cut, even an emptied file is what somebody wanted", () => {
    using ground = patched();
    truncateSync(join(ground.inside, "f1"), 0);
    ground.workspace.at("f0");
    expect(ground.text("f1")).toBe("");
    expect(ground.text("f2")).toBe("new f2");
  });

  it("what cannot be settled is tried again by the next who starts", () => {
    using ground = patched();
    truncateSync(join(ground.inside, "f1"), 0);
    reboot(ground);
    const { flush } = sys;
    sys.flush = () => {
      throw errno("EIO", "fsync");
    };
    try {
      ground.workspace.at("f0");
    } finally {
      sys.flush = flush;
    }
    expect(ground.text("f1")).toBe("");
    ground.reopen();
    ground.workspace.at("f0");
    expect(ground.text("f1")).toBe("new f1");
  });
});

describe("after a process was killed, with a commit acknowledged and nothing flushed but the journal", () => {
  it("the files and their directory are flushed before the journal goes: the power may fail next", () => {
    using ground = patched();
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
      ground.workspace.at("f0");
    } finally {
      Object.assign(sys, { flush, unlink });
    }
    const paths = [ground.inside, ...names.map(name => join(ground.inside, name))];
    expect(flushedBefore).toEqual(expect.arrayContaining(paths.map(path => statSync(path).ino)));
  });

  it("the journal stays where they cannot be flushed, and the next who starts flushes them", () => {
    using ground = patched();
    const processes = join(ground.state, "processes");
    const [dead = ""] = readdirSync(processes);
    const { flush } = sys;
    sys.flush = () => {
      throw errno("EIO", "fsync");
    };
    try {
      ground.workspace.at("f0");
    } finally {
      sys.flush = flush;
    }
    expect(readdirSync(processes)).toContain(dead);
    ground.reopen();
    ground.workspace.at("f0");
    expect(readdirSync(processes)).not.toContain(dead);
    expect(ground.tree()).toEqual(Object.fromEntries(names.map(name => [name, `new ${name}`])));
  });
});

describe("after the power failed, with a file too large for the journal committed there and not in its place yet", () => {
  const repeats = 300_000;
  const whole = "new ".repeat(repeats);

  /** The ground, and the temporary file that was to become `a`. */
  function committed() {
    const ground = new Ground({ a: "old" });
    spawnSync(process.execPath, [worker.path, "marked", ground.base, String(repeats)]);
    const staged = readdirSync(ground.inside).filter(name => name !== "a");
    expect([ground.text("a"), staged.length]).toEqual(["old", 1]);
    return { ground, staged: join(ground.inside, staged[0] ?? "") };
  }

  it("the new content comes into its place where all of it is on the disk", () => {
    const { ground } = committed();
    using _ = ground;
    reboot(ground);
    ground.workspace.at("a");
    expect(ground.tree()).toEqual({ a: whole });
  });

  it.each([
    ["was cut short", (file: string) => truncateSync(file, 4096)],
    ["is full of zeros", (file: string) => writeFileSync(file, Buffer.alloc(whole.length))],
    ["is gone", (file: string) => rmSync(file)],
  ])("the old content stays where the new one %s", (_, damage) => {
    const { ground, staged } = committed();
    using __ = ground;
    damage(staged);
    reboot(ground);
    ground.workspace.at("a");
    expect(ground.tree()).toEqual({ a: "old" });
  });
});
