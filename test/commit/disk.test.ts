import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { hasProc } from "../setup/proc.ts";
import { Fixture, faultOf } from "./fixture.ts";
import { fill, mountSmall } from "./small-disk.ts";

describe("on a disk that is full", () => {
  it("an overwrite, a creation and a patch are refused, and every byte stays", async context => {
    using fixture = new Fixture();
    const small = join(fixture.base, "small");
    await using mount = mountSmall(small, "512k");
    if (!mount.mounted) return context.skip("needs permission to mount");
    for (let i = 0; i < 10; i++) writeFileSync(join(small, `f${i}`), `old ${i}`);
    writeFileSync(join(small, "ballast"), Buffer.alloc(380 * 1024, "b"));
    using workspace = Workspace.open([{ path: small, access: "read-write" }], { state: fixture.state });
    const before = fixture.tree(small);
    const large = Buffer.alloc(200 * 1024, "n");
    const write = (name: string, bytes: Buffer) =>
      ({ kind: "write", path: workspace.at(name), bytes }) as const;
    const tries = [
      [write("f0", large)],
      [write("new", large)],
      [{ kind: "copy", from: workspace.at("ballast"), to: workspace.at("copy") } as const],
      Array.from({ length: 10 }, (_, i) => write(`f${i}`, Buffer.alloc(i === 7 ? 90 * 1024 : 8 * 1024, "n"))),
    ];
    for (const changes of tries) {
      expect(await faultOf(workspace.commit(changes))).toBe("no_space");
      await workspace.settled();
      expect(fixture.tree(small)).toEqual(before);
    }
    await workspace.commit([write("f0", Buffer.from("fits"))]);
    await workspace.settled();
    expect(fixture.tree(small)).toEqual({ ...before, f0: "fits" });
    // Room that a removal makes can be used at once, even while the removed bytes are still being cleared.
    await workspace.commit([{ kind: "remove", path: workspace.at("ballast") }]);
    await workspace.commit([write("f1", Buffer.alloc(400 * 1024, "n"))]);
    await workspace.settled();
  });

  it.runIf(hasProc)("a full state directory is reported as such", async context => {
    using fixture = new Fixture({ a: "old" });
    await using mount = mountSmall(fixture.state);
    if (!mount.mounted) return context.skip("needs permission to mount");
    writeFileSync(join(fixture.state, "ballast"), "");
    const free = statfsSync(fixture.state);
    writeFileSync(join(fixture.state, "ballast"), Buffer.alloc(Number(free.bavail * free.bsize) - 8192));
    expect(await faultOf(fixture.commit([fixture.write("a", "new")]))).toBe("no_space");
    expect(fixture.tree()).toEqual({ a: "old" });
    rmSync(join(fixture.state, "ballast"));
    await fixture.commit([fixture.write("a", "new")]);
    expect(fixture.text("a")).toBe("new");
  });
});

describe("on a disk that has no room for history", () => {
  const names = Array.from({ length: 90 }, (_, i) => `f${i}`);

  it.runIf(hasProc)("what was answered can be undone once there is room again", async context => {
    using fixture = new Fixture(Object.fromEntries(names.map(name => [name, `old ${name}`])));
    const objects = join(fixture.state, "objects");
    await using mount = mountSmall(objects, "64k");
    if (!mount.mounted) return context.skip("needs permission to mount");
    fill(objects);
    const answered: string[] = [];
    for (const name of names) {
      const fault = await faultOf(fixture.commit([fixture.write(name, `new ${name}`)]));
      expect(["none", "no_space"]).toContain(fault);
      expect(fixture.text(name)).toBe(fault === "none" ? `new ${name}` : `old ${name}`);
      if (fault === "none") answered.push(name);
    }
    rmSync(join(objects, "ballast"));
    spawnSync("mount", ["-o", "remount,size=8m", objects]);
    await fixture.workspace.settled();
    const kept = new Map([...fixture.workspace.archive.changes.newest()].map(one => [one.files[0]?.at, one]));
    for (const name of answered) {
      const before = kept.get(join(fixture.inside, name))?.files[0]?.before;
      const hash = before !== undefined && "hash" in before ? (before.hash ?? "") : "";
      expect(fixture.workspace.archive.objects.get(hash)?.toString()).toBe(`old ${name}`);
    }
    // More than the number of times that a failing archive is tried, and fewer than all: memory is bounded.
    expect(answered.length).toBeGreaterThan(30);
    expect(answered.length).toBeLessThan(names.length);
    await fixture.commit([fixture.write("last", "1")]);
  });

  it.runIf(hasProc)(
    "a removal does not wait: it frees space, and says that it cannot be undone",
    async context => {
      using fixture = new Fixture();
      const small = join(fixture.base, "small");
      await using mount = mountSmall(small, "2m");
      if (!mount.mounted) return context.skip("needs permission to mount");
      const root = join(small, "root");
      mkdirSync(root);
      writeFileSync(join(root, "large"), randomBytes(1024 * 1024));
      using workspace = Workspace.open([{ path: root, access: "read-write" }], {
        state: join(small, "state"),
      });
      await workspace.commit([{ kind: "write", path: workspace.at("a"), bytes: Buffer.from("a") }]);
      await workspace.settled();
      const { bavail, bsize } = statfsSync(small);
      writeFileSync(join(small, "ballast"), Buffer.alloc(Number(bavail * bsize) - 128 * 1024));
      const removed = await workspace.commit([{ kind: "remove", path: workspace.at("large") }]);
      expect(removed.recorded).toBe(false);
      await workspace.settled();
      expect(statfsSync(small).bavail * bsize).toBeGreaterThan(1024 * 1024);
    },
  );
});

describe("on a disk that is read-only", () => {
  it("a write is refused as read-only", async context => {
    using fixture = new Fixture();
    const small = join(fixture.base, "small");
    await using mount = mountSmall(small, "512k");
    if (!mount.mounted) return context.skip("needs permission to mount");
    writeFileSync(join(small, "a"), "old");
    spawnSync("mount", ["-o", "remount,ro", small]);
    using workspace = Workspace.open([{ path: small, access: "read-write" }], { state: fixture.state });
    const change = { kind: "write", path: workspace.at("a"), bytes: Buffer.from("x") } as const;
    await expect(workspace.commit([change])).rejects.toMatchObject({
      code: "read_only",
      data: { path: "a", fileSystem: true },
    });
    expect(readFileSync(join(small, "a"), "utf8")).toBe("old");
  });

  it.runIf(hasProc)("a state directory that turned read-only is named, not the file", async context => {
    using fixture = new Fixture({ a: "old" });
    await using mount = mountSmall(fixture.state);
    if (!mount.mounted) return context.skip("needs permission to mount");
    spawnSync("mount", ["-o", "remount,ro", fixture.state]);
    await expect(fixture.commit([fixture.write("a", "new")])).rejects.toMatchObject({
      code: "read_only",
      data: { path: "polyfs's state directory", fileSystem: true },
    });
    expect(fixture.text("a")).toBe("old");
    spawnSync("mount", ["-o", "remount,rw", fixture.state]);
    await fixture.commit([fixture.write("a", "new")]);
    expect(fixture.text("a")).toBe("new");
  });
});

describe("extended attributes", () => {
  it.runIf(hasProc)("are kept by a write where a program can copy them", async context => {
    const copy = (from: number, to: number) => {
      const args = ["--attributes-only", "--preserve=xattr", "/proc/self/fd/3", "/proc/self/fd/4"];
      const { status } = spawnSync("cp", args, { stdio: ["ignore", "ignore", "ignore", from, to] });
      expect(status).toBe(0);
    };
    using fixture = new Fixture({ a: "old" }, copy);
    const file = join(fixture.inside, "a");
    const python = (code: string) => spawnSync("python3", ["-c", `import os\n${code}`], { encoding: "utf8" });
    if (python(`os.setxattr(${JSON.stringify(file)}, "user.note", b"kept")`).status !== 0) {
      return context.skip("needs python3 and a file system with extended attributes");
    }
    await fixture.commit([fixture.write("a", "new")]);
    const { stdout } = python(`print(os.getxattr(${JSON.stringify(file)}, "user.note").decode())`);
    expect([fixture.text("a"), stdout.trim()]).toEqual(["new", "kept"]);
  });
});
