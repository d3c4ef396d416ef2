// A recovery after a power cut that ends early itself: killed at any point, or stopped by a disk that fails. What it
// leaves, the next one completes.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sys } from "../../src/engine/workspace/disk/syscalls.ts";
import { bundle } from "./bundle.ts";
import { errno } from "./failing.ts";
import { Fixture } from "./fixture.ts";
import { reboot } from "./reboot.ts";

let worker: Awaited<ReturnType<typeof bundle>>;
beforeAll(async () => {
  worker = await bundle("worker.ts");
});
afterAll(() => worker[Symbol.dispose]());

const run = (fixture: Fixture, task: string, given: string) =>
  spawnSync(process.execPath, [worker.path, task, fixture.base, given]).signal;

/** The directory `d` that one process made, and what others wrote in it, are not on the disk: only their journals are. */
function lost(marks?: "done"): Fixture {
  const fixture = new Fixture({ a: "a" });
  for (const names of ["d/x", "d/y,a,d/e/z", "d/e/u"]) {
    // No process recovers what the one before left.
    const others = join(fixture.base, "others");
    mkdirSync(others, { recursive: true });
    const processes = join(fixture.state, "processes");
    const move = (from: string, to: string) => {
      for (const name of existsSync(from) ? readdirSync(from) : [])
        sys.rename(join(from, name), join(to, name));
    };
    move(processes, others);
    expect(run(fixture, "writesAll", names)).toBe("SIGKILL");
    move(others, processes);
  }
  expect(readdirSync(join(fixture.state, "processes"))).toHaveLength(3);
  rmSync(join(fixture.inside, "d"), { recursive: true });
  reboot(fixture, marks);
  return fixture;
}

const whole = {
  a: "a",
  "d/": "/",
  "d/e/": "/",
  "d/e/u": "d/e/u",
  "d/e/z": "d/e/z",
  "d/x": "d/x",
  "d/y": "d/y",
};

describe("directories that recovery made again", () => {
  it.each([
    ["mkdir", undefined],
    ["rename", "done"],
    ["unlink", undefined],
  ] as const)(
    "are known to the recovery after one that was killed in its n-th %s (marks lost: %s)",
    (call, marks) => {
      let killed = 0;
      for (let at = 1; ; at++) {
        using fixture = lost(marks);
        if (run(fixture, "recover", `${at}:${call}`) === null) break;
        killed++;
        fixture.workspace.at("a");
        expect([at, fixture.tree()]).toEqual([at, whole]);
      }
      expect(killed).toBeGreaterThan(1);
    },
  );

  it.each(["the commit", "the commit, and for noting what is recovered"])(
    "are known as long as the disk has no room for %s in one of them",
    what => {
      using fixture = lost();
      const isNeeded = (bytes: Uint8Array) => Buffer.from(bytes).toString() === "d/e/u";
      const isNote = (bytes: Uint8Array) => bytes.length === 256 * 1024;
      const { write } = sys;
      sys.write = (fd, from, ...rest) => {
        if (isNeeded(from) || (what !== "the commit" && isNote(from))) throw errno("ENOSPC", "write");
        return write(fd, from, ...rest);
      };
      try {
        fixture.workspace.at("a");
      } finally {
        sys.write = write;
      }
      const { "d/e/u": _, ...others } = whole;
      expect(fixture.tree()).toMatchObject(others);
      expect(fixture.tree()).not.toHaveProperty("d/e/u");
      fixture.reopen();
      fixture.workspace.at("a");
      expect(fixture.tree()).toEqual(whole);
    },
  );

  it("are flushed with all that is in them before any journal goes", () => {
    using fixture = lost();
    const { flush, write } = sys;
    const flushed = new Set<number>();
    const emptyHead = Buffer.alloc(32);
    let missing: string[] | undefined;
    sys.flush = fd => {
      flush(fd);
      flushed.add(sys.stat(fd).ino);
    };
    sys.write = (fd, from, ...rest) => {
      if (emptyHead.equals(from))
        // discards a journal
        missing ??= ["", "d", "d/x", "d/y", "d/e", "d/e/z", "d/e/u"].filter(
          path => !flushed.has(statSync(join(fixture.inside, path)).ino),
        );
      return write(fd, from, ...rest);
    };
    try {
      fixture.workspace.at("a");
    } finally {
      Object.assign(sys, { flush, write });
    }
    expect(missing).toEqual([]);
  });
});

it("a commit that failed is not made, although a later one at the same path shows that it had ended", () => {
  using fixture = new Fixture();
  expect(run(fixture, "failsAndWrites", "")).toBe("SIGKILL");
  expect(fixture.tree()).toEqual({ a: "answered" });
  rmSync(join(fixture.inside, "a"));
  reboot(fixture);
  fixture.workspace.at("a");
  expect(fixture.tree()).toEqual({ a: "answered" });
});

it("what a recovery has not finished when it is cut short by an error stays for the next one", () => {
  using fixture = new Fixture();
  expect(run(fixture, "writesAll", "a,b")).toBe("SIGKILL");
  rmSync(join(fixture.inside, "b"));
  reboot(fixture);
  const { names } = sys;
  sys.names = address => {
    if (String(address).endsWith("/changes")) throw errno("EIO", "readdir");
    return names(address);
  };
  try {
    fixture.workspace.at("a");
  } finally {
    sys.names = names;
  }
  expect(fixture.tree()).toEqual({ a: "a" });
  expect(run(fixture, "recover", "0")).toBe(null);
  expect(fixture.tree()).toEqual({ a: "a", b: "b" });
});
