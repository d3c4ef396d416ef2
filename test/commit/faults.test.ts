import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Fault } from "../../src/engine/fault.ts";
import { errno, watching } from "./failing.ts";
import { Fixture, faultOf } from "./fixture.ts";

describe("when a patch fails in the middle", () => {
  it("a rename that fails at any of twenty files leaves all of them as they were", async () => {
    const names = Array.from({ length: 20 }, (_, i) => `f${i}`);
    using fixture = new Fixture(Object.fromEntries(names.map(name => [name, `old ${name}`])));
    const before = fixture.tree();
    for (const failing of [1, 2, 11, 20]) {
      let renames = 0;
      const patch = watching(
        (_, name) => {
          if (name === "rename" && ++renames === failing) throw errno("EACCES", name);
        },
        () => fixture.commit(names.map(name => fixture.write(name, "new"))),
      );
      await expect(patch).rejects.toMatchObject({ code: "permission_denied" });
      await fixture.workspace.settled();
      expect(fixture.tree()).toEqual(before);
    }
  });

  it("moves of files and directories before the failure are rolled back", async () => {
    using fixture = new Fixture({ a: "a", "d/inner": "inner", z: "old z" });
    const before = fixture.tree();
    const changes = [
      { kind: "move" as const, from: fixture.at("a"), to: fixture.at("b") },
      { kind: "move" as const, from: fixture.at("d"), to: fixture.at("e") },
      fixture.write("z", "new z"),
    ];
    for (const failing of [1, 2]) {
      let renames = 0;
      const commit = watching(
        (_, name) => {
          if (name === "rename" && ++renames === failing) throw errno("EACCES", name);
        },
        () => fixture.commit(changes),
      );
      await expect(commit).rejects.toMatchObject({ code: "permission_denied" });
      await fixture.workspace.settled();
      expect(fixture.tree(), `rename ${failing}`).toEqual(before);
    }
    await fixture.commit(changes);
    expect(fixture.tree()).toEqual({ b: "a", "e/": "/", "e/inner": "inner", z: "new z" });
  });

  it("a disk that stays broken is reported, and everything is rolled back once it works again", async () => {
    using fixture = new Fixture({ a: "old a", b: "old b" });
    let renames = 0;
    const changes = [fixture.write("a", "new a"), fixture.write("b", "new b")];
    const patch = watching(
      (_, name) => {
        if (name === "rename") renames++;
        if (renames >= 2) throw errno("EIO", name);
      },
      () => fixture.commit(changes),
    );
    await expect(patch).rejects.toMatchObject({ code: "io" });
    await fixture.commit([fixture.write("c", "c")]);
    await fixture.workspace.settled();
    expect(fixture.tree()).toEqual({ a: "old a", b: "old b", c: "c" });
  });

  it("short writes are continued", async () => {
    using fixture = new Fixture({ a: "old" });
    const { sys } = await import("../../src/engine/workspace/disk/syscalls.ts");
    const { write } = sys;
    sys.write = (fd, from, at, length, position) =>
      write(fd, from, at, Math.max(1, Math.floor(length / 2)), position);
    try {
      await fixture.commit([fixture.write("a", "0123456789".repeat(100))]);
    } finally {
      sys.write = write;
    }
    expect(fixture.text("a")).toBe("0123456789".repeat(100));
  });
});

describe("when the system refuses", () => {
  it("a directory without write permission is reported as such", async context => {
    if (process.geteuid?.() !== 0) {
      using fixture = new Fixture({ "d/a": "a" });
      chmodSync(join(fixture.inside, "d"), 0o555);
      expect(await faultOf(fixture.commit([fixture.write("d/b", "b")]))).toBe("permission_denied");
      await fixture.commit([fixture.write("d/a", "in place")]);
      expect(fixture.text("d/a")).toBe("in place");
      chmodSync(join(fixture.inside, "d"), 0o755);
      return;
    }
    context.skip("root may write everywhere; tried as another user in processes.test.ts");
  });

  it("a name that is too long is refused before anything happens", async () => {
    using fixture = new Fixture();
    expect(
      await faultOf(fixture.commit([fixture.write("ok", "x"), fixture.write("n".repeat(255), "x")])),
    ).toBe("none");
    expect(() => fixture.write("n".repeat(256), "x")).toThrow(Fault);
  });

  it("a state directory that cannot be used is a fault, not a crash", async () => {
    using fixture = new Fixture();
    mkdirSync(fixture.state);
    expect(existsSync(fixture.state)).toBe(true);
    const { Workspace } = await import("../../src/engine/workspace/workspace.ts");
    fixture.put("file", "x");
    using workspace = Workspace.open([{ path: fixture.inside, access: "read-write" }], {
      state: join(fixture.inside, "file/state"),
    });
    const change = { kind: "write", path: workspace.at("a"), bytes: Buffer.from("x") } as const;
    expect(await faultOf(workspace.commit([change]))).toBe("not_a_directory");
  });
});
