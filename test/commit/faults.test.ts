import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Fault } from "../../src/engine/fault.ts";
import { errno, watching } from "./failing.ts";
import { faultOf, Ground } from "./ground.ts";

describe("when a patch fails in the middle", () => {
  it("a rename that fails at any of twenty files leaves all of them as they were", async () => {
    const names = Array.from({ length: 20 }, (_, i) => `f${i}`);
    using ground = new Ground(Object.fromEntries(names.map(name => [name, `old ${name}`])));
    const before = ground.tree();
    for (const failing of [1, 2, 11, 20]) {
      let renames = 0;
      const patch = watching(
        (_, name) => {
          if (name === "rename" && ++renames === failing) throw errno("EACCES", name);
        },
        () => ground.commit(names.map(name => ground.write(name, "new"))),
      );
      await expect(patch).rejects.toMatchObject({ code: "permission_denied" });
      await ground.workspace.settled();
      expect(ground.tree()).toEqual(before);
    }
  });

  it("a disk that stays broken is told, and everything is taken back once it works again", async () => {
    using ground = new Ground({ a: "old a", b: "old b" });
    let renames = 0;
    const changes = [ground.write("a", "new a"), ground.write("b", "new b")];
    const patch = watching(
      (_, name) => {
        if (name === "rename") renames++;
        if (renames >= 2) throw errno("EIO", name);
      },
      () => ground.commit(changes),
    );
    await expect(patch).rejects.toMatchObject({ code: "io" });
    await ground.commit([ground.write("c", "c")]);
    await ground.workspace.settled();
    expect(ground.tree()).toEqual({ a: "old a", b: "old b", c: "c" });
  });

  it("short writes are continued", async () => {
    using ground = new Ground({ a: "old" });
    const { sys } = await import("../../src/engine/workspace/commit/syscalls.ts");
    const { write } = sys;
    sys.write = (fd, from, at, length, position) =>
      write(fd, from, at, Math.max(1, Math.floor(length / 2)), position);
    try {
      await ground.commit([ground.write("a", "0123456789".repeat(100))]);
    } finally {
      sys.write = write;
    }
    expect(ground.text("a")).toBe("0123456789".repeat(100));
  });
});

describe("when the system refuses", () => {
  it("a directory without leave to write is told as such", async context => {
    if (process.geteuid?.() !== 0) {
      using ground = new Ground({ "d/a": "a" });
      chmodSync(join(ground.inside, "d"), 0o555);
      expect(await faultOf(ground.commit([ground.write("d/b", "b")]))).toBe("permission_denied");
      await ground.commit([ground.write("d/a", "in place")]);
      expect(ground.text("d/a")).toBe("in place");
      chmodSync(join(ground.inside, "d"), 0o755);
      return;
    }
    context.skip("root may write everywhere; tried as another user in processes.test.ts");
  });

  it("a name that is too long is refused before anything happens", async () => {
    using ground = new Ground();
    expect(await faultOf(ground.commit([ground.write("ok", "x"), ground.write("n".repeat(255), "x")]))).toBe(
      "none",
    );
    expect(() => ground.write("n".repeat(256), "x")).toThrow(Fault);
  });

  it("a state directory that cannot be used is a fault, not a crash", async () => {
    using ground = new Ground();
    mkdirSync(ground.state);
    expect(existsSync(ground.state)).toBe(true);
    const { Workspace } = await import("../../src/engine/workspace/workspace.ts");
    ground.put("file", "x");
    using workspace = Workspace.open([{ path: ground.inside, access: "read-write" }], {
      state: join(ground.inside, "file/state"),
    });
    const change = { kind: "write", path: workspace.at("a"), bytes: Buffer.from("x") } as const;
    expect(await faultOf(workspace.commit([change]))).toBe("not_a_directory");
  });
});
