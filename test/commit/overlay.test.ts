// Directories of a lower layer of overlayfs cannot be renamed. They are moved and deleted all the same: copied, and
// removed where they are, all or nothing whatever fails.
import { execFileSync } from "node:child_process";
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { undo } from "../../src/engine/history/undo.ts";
import type { Change } from "../../src/engine/workspace/commit/change.ts";
import { marksOf, openRecorded } from "../../src/engine/workspace/disk/held-directories.ts";
import { sys } from "../../src/engine/workspace/disk/syscalls.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { bundle } from "./bundle.ts";
import { errno, watching } from "./failing.ts";
import { scenarios } from "./scenarios.ts";

/** `inside` is an overlay whose lower layer has these files. */
class Overlay implements Disposable {
  readonly base = mkdtempSync(join(tmpdir(), "polyfs-overlay-"));
  readonly inside = join(this.base, "inside");
  readonly state = join(this.base, "state");
  readonly #layers = ["lower", "upper", "work"].map(name => join(this.base, name));

  constructor(files: Record<string, string>) {
    const [lower = "", upper, work] = this.#layers;
    for (const directory of [this.inside, ...this.#layers]) mkdirSync(directory);
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(lower, path, ".."), { recursive: true });
      writeFileSync(join(lower, path), text);
    }
    const layers = `lowerdir=${lower},upperdir=${upper},workdir=${work}`;
    execFileSync("mount", ["-t", "overlay", "overlay", "-o", layers, this.inside], { stdio: "ignore" });
  }

  open(): Workspace {
    return Workspace.open([{ path: this.inside, access: "read-write" }], { state: this.state });
  }

  path(path: string): string {
    return join(this.inside, path);
  }

  /** All names and contents. */
  tree(): string {
    return execFileSync(
      "sh",
      [
        "-c",
        "find . -type d -printf '%p/ %m\\n' -o -type f -printf '%p %m ' -exec cat {} ';' -printf '\\n' | sort",
      ],
      { cwd: this.inside, encoding: "utf8" },
    );
  }

  [Symbol.dispose](): void {
    execFileSync("umount", ["--lazy", this.inside]);
    rmSync(this.base, { recursive: true, force: true });
  }
}

function mayMount(): boolean {
  try {
    using _ = new Overlay({});
    return true;
  } catch {
    return false;
  }
}

const files = { "t/x/y": "y", "t/z": "z", "s/q": "q", "s/r/p": "p", stays: "stays" };
const changes = (workspace: Workspace): Change[] => [
  { kind: "remove", path: workspace.at("t"), recursive: true },
  { kind: "move", from: workspace.at("s"), to: workspace.at("w") },
  { kind: "write", path: workspace.at("stays"), bytes: Buffer.from("changed") },
];

describe.skipIf(!mayMount())("a directory of a lower layer (needs permission to mount an overlay)", () => {
  it("is moved with its modes and times, and undo moves it back", async () => {
    using overlay = new Overlay({ "d/e/f": "f", "d/g": "g" });
    chmodSync(overlay.path("d/g"), 0o640);
    chmodSync(overlay.path("d/e"), 0o750);
    utimesSync(overlay.path("d/g"), 1_000_000, 1_000_000);
    const before = overlay.tree();
    using workspace = overlay.open();
    await workspace.commit([{ kind: "move", from: workspace.at("d"), to: workspace.at("n") }]);
    expect(overlay.tree()).toBe(before.replaceAll("./d", "./n"));
    expect(lstatSync(overlay.path("n/g")).mtimeMs).toBe(1_000_000_000);
    await undo(workspace);
    expect(overlay.tree()).toBe(before);
  });

  it("is deleted, and undo brings it back", async () => {
    using overlay = new Overlay({ "d/e/f": "f", "d/g": "g", a: "a" });
    mkdirSync(overlay.path("d/upper"));
    const before = overlay.tree();
    using workspace = overlay.open();
    const commit = await workspace.commit([{ kind: "remove", path: workspace.at("d"), recursive: true }]);
    expect(commit.recorded).toBe(true);
    expect(overlay.tree()).not.toContain("./d");
    await undo(workspace);
    expect(overlay.tree()).toBe(before);
  });

  it("is deleted if it is empty, and with its contents only when asked", async () => {
    using overlay = new Overlay({ "d/e": "e" });
    using workspace = overlay.open();
    const removal = { kind: "remove", path: workspace.at("d") } as const;
    await expect(workspace.commit([removal])).rejects.toMatchObject({ code: "not_empty" });
    sys.unlink(overlay.path("d/e"));
    await workspace.commit([removal]);
    expect(overlay.tree()).not.toContain("./d");
    await undo(workspace);
    expect(overlay.tree()).toContain("./d/ ");
  });

  it("is complete, or moved or deleted completely, whichever system call fails", async () => {
    const run = async (failing: number) => {
      using overlay = new Overlay(files);
      const before = overlay.tree();
      using workspace = overlay.open();
      let calls = 0;
      let failed = "";
      const outcome = await watching(
        (count, name) => {
          calls = count;
          if (count !== failing) return;
          failed = name;
          throw errno("EIO", name);
        },
        () => workspace.commit(changes(workspace)),
      ).then(
        () => "done",
        () => "failed",
      );
      // What could not be rolled back is rolled back before the next commit.
      await workspace.commit([{ kind: "write", path: workspace.at("next"), bytes: Buffer.from("") }]);
      await workspace.settled();
      sys.unlink(overlay.path("next"));
      return { tree: overlay.tree(), before, outcome, calls, failed };
    };
    const { tree: after, calls } = await run(0);
    expect(after).toContain("./w/r/p");
    expect(after).not.toMatch(/\.\/[ts]\//);
    const seen = new Set<string>();
    // A sample: one after another they take minutes.
    for (let failing = calls; failing > 0; failing -= Math.ceil(calls / 12)) {
      const { tree, before, outcome, failed } = await run(failing);
      seen.add(outcome);
      expect(tree, `call ${failing} (${failed}), ${outcome}`).toBe(outcome === "done" ? after : before);
    }
    expect(seen).toEqual(new Set(["done", "failed"]));
  });

  it("is known to recovery after its first change, also when a container is started again", () => {
    using overlay = new Overlay({ "d/in/x": "x" });
    const record = { at: overlay.path("d/in"), ...marksOf(lstatSync(overlay.path("d/in"))) };
    writeFileSync(overlay.path("d/in/y"), "y");
    expect(lstatSync(overlay.path("d/in")).birthtimeMs).not.toBe(record.born);
    mkdirSync(overlay.path("e"));
    const mountedAgain = { ...record, device: record.device + 1 };
    using found = openRecorded(mountedAgain, true);
    expect(found?.whereabouts()).toBe(record.at);
    expect(openRecorded({ ...mountedAgain, at: overlay.path("e") }, true)).toBeUndefined();
  });

  it("is known by its birth where layers on several disks get new numbers", () => {
    using overlay = new Overlay({});
    mkdirSync(overlay.path("d"));
    const { ino, ...marks } = lstatSync(overlay.path("d"));
    const record = { at: overlay.path("d"), ...marksOf({ ...marks, ino: ino + 1 }) };
    for (const sameBoot of [true, false]) {
      using found = openRecorded(record, sameBoot);
      expect(found?.whereabouts()).toBe(record.at);
      expect(openRecorded({ ...record, born: 1 }, sameBoot)).toBeUndefined();
    }
  });

  it("is complete or gone after a kill in the middle of its removal", async () => {
    using worker = await bundle("worker.ts");
    const index = scenarios.findIndex(({ name }) => name === "the removal of a tree, and a tree copied");
    const scenario = scenarios[index];
    for (const at of ["1:mkdir", "1:rmdir", "3:rmdir", "2:unlink"]) {
      using overlay = new Overlay(scenario?.files ?? {});
      const before = overlay.tree();
      try {
        execFileSync(process.execPath, [worker.path, "scenario", overlay.base, `${index}:${at}`], {
          stdio: "ignore",
        });
      } catch {
        // killed
      }
      using workspace = overlay.open();
      await workspace.commit([{ kind: "write", path: workspace.at("next"), bytes: Buffer.from("") }]);
      await workspace.settled();
      sys.unlink(overlay.path("next"));
      const tree = overlay.tree();
      expect(tree === before || (!tree.includes("./t") && tree.includes("./w/r/p"))).toBe(true);
      expect(tree).not.toContain(".polyfs");
    }
  });
});
