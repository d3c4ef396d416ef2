import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Commit } from "../../src/engine/workspace/commit/change.ts";
import { isTemporaryName } from "../../src/engine/workspace/commit/temporary.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { faultOf, Ground } from "./ground.ts";

describe("a write", () => {
  it("creates a file, and says so", async () => {
    using ground = new Ground();
    const commit = await ground.commit([ground.write("new.txt", "hello")]);
    expect(ground.tree()).toEqual({ "new.txt": "hello" });
    expect(commit.files[0]).toMatchObject({ effect: "created", kind: "file", otherNames: 0 });
    expect(lstatSync(join(ground.inside, "new.txt")).mode & 0o777).toBe(0o666 & ~process.umask());
  });

  it("replaces a file as a whole and keeps its mode", async () => {
    using ground = new Ground({ a: "old" });
    chmodSync(join(ground.inside, "a"), 0o751);
    const commit = await ground.commit([ground.write("a", "new")]);
    await ground.workspace.settled();
    expect(ground.tree()).toEqual({ a: "new" });
    expect(commit.files[0]?.effect).toBe("modified");
    expect(statSync(join(ground.inside, "a")).mode & 0o7777).toBe(0o751);
  });

  it("keeps the owner where it may", async context => {
    if (process.geteuid?.() !== 0) return context.skip("only root can give files away");
    using ground = new Ground({ a: "old" });
    const { chownSync } = await import("node:fs");
    chownSync(join(ground.inside, "a"), 1234, 2345);
    await ground.commit([ground.write("a", "new")]);
    expect(statSync(join(ground.inside, "a"))).toMatchObject({ uid: 1234, gid: 2345 });
  });

  it("makes missing parents when told, and only then", async () => {
    using ground = new Ground();
    expect(await faultOf(ground.commit([ground.write("a/b/c.txt", "x")]))).toBe("parent_not_found");
    const commit = await ground.commit([ground.write("a/b/c.txt", "x"), ground.write("a/d.txt", "y")], {
      parents: true,
    });
    expect(ground.tree()).toEqual({ "a/": "/", "a/b/": "/", "a/b/c.txt": "x", "a/d.txt": "y" });
    expect(commit.parents.map(path => path.slice(ground.inside.length))).toEqual(["/a", "/a/b"]);
  });

  it("holds for what it was computed from, or is refused", async () => {
    using ground = new Ground({ a: "one" });
    await ground.commit([ground.write("a", "two", { expect: Buffer.from("one") })]);
    const stale = ground.commit([ground.write("a", "three", { expect: Buffer.from("one") })]);
    expect(await faultOf(stale)).toBe("changed_meanwhile");
    const asked = ground.commit([ground.write("a", "three", { expect: bytes => bytes.length === 4 })]);
    expect(await faultOf(asked)).toBe("changed_meanwhile");
    expect(await faultOf(ground.commit([ground.write("a", "x", { expect: "absent" })]))).toBe("exists");
    expect(ground.text("a")).toBe("two");
  });

  it("works for names of 250 bytes and for names that are not UTF-8", async () => {
    const long = "n".repeat(250);
    using ground = new Ground({ [long]: "old" });
    const odd = Buffer.concat([Buffer.from(`${ground.inside}/odd-`), Buffer.from([0xff, 0xfe])]);
    writeFileSync(odd, "old");
    await ground.commit([ground.write(long, "new"), ground.write("odd-\\xff\\xfe", "new")]);
    expect(ground.text(long)).toBe("new");
    expect(readFileSync(odd, "utf8")).toBe("new");
  });

  it("of nothing but zeros, of no bytes, and of 6 MB arrives whole", async () => {
    using ground = new Ground();
    const large = Buffer.alloc(6_000_000, "0123456789");
    await ground.commit([
      { kind: "write", path: ground.at("zeros"), bytes: Buffer.alloc(1000) },
      { kind: "write", path: ground.at("empty"), bytes: Buffer.alloc(0) },
      { kind: "write", path: ground.at("large"), bytes: large },
    ]);
    expect(readFileSync(join(ground.inside, "zeros"))).toEqual(Buffer.alloc(1000));
    expect(ground.text("empty")).toBe("");
    expect(readFileSync(join(ground.inside, "large")).equals(large)).toBe(true);
  });

  it("to a directory, or below a file, is refused", async () => {
    using ground = new Ground({ "d/x": "x", f: "f" });
    expect(await faultOf(ground.commit([ground.write("d", "x")]))).toBe("not_a_file");
    expect(await faultOf(ground.commit([ground.write("f/g", "x")]))).toBe("not_a_directory");
    expect(await faultOf(ground.commit([ground.write("f/g/h", "x")], { parents: true }))).toBe(
      "not_a_directory",
    );
  });

  it("in a root granted for reading is refused, also below a root that is writable", async () => {
    using ground = new Ground({ "locked/a": "a" });
    using workspace = Workspace.open(
      [
        { path: ground.inside, access: "read-write" },
        { path: join(ground.inside, "locked"), access: "read-only" },
      ],
      { state: ground.state },
    );
    const path = workspace.at("locked/a");
    const to = workspace.at("free");
    const refused = [
      workspace.commit([{ kind: "write", path, bytes: Buffer.from("x") }]),
      workspace.commit([{ kind: "remove", path }]),
      workspace.commit([{ kind: "move", from: path, to }]),
      workspace.commit([{ kind: "mkdir", path: workspace.at("locked/d") }]),
      workspace.commit([{ kind: "remove", path: workspace.at("locked"), recursive: true }]),
    ];
    expect(await Promise.all(refused.map(faultOf))).toEqual([
      "read_only",
      "read_only",
      "read_only",
      "read_only",
      "protected_root",
    ]);
    await workspace.commit([{ kind: "copy", from: path, to }]);
    expect(ground.text("free")).toBe("a");
  });
});

describe("a write to a symbolic link", () => {
  it("changes the target and keeps the link", async () => {
    using ground = new Ground({ "real/a": "old" });
    symlinkSync("real/a", join(ground.inside, "link"));
    symlinkSync(join(ground.inside, "link"), join(ground.inside, "again"));
    const commit = await ground.commit([ground.write("again", "new")]);
    await ground.workspace.settled();
    expect(ground.tree()).toMatchObject({ link: "-> real/a", "real/a": "new" });
    expect(commit.files[0]?.at).toBe(join(ground.inside, "real/a"));
  });

  it("that dangles above the name is no directory, and none is made in its place", async () => {
    using ground = new Ground();
    symlinkSync("nowhere", join(ground.inside, "dangling"));
    const path = ground.workspace.at("dangling/below");
    const parents = { parents: true };
    expect(await faultOf(ground.commit([{ kind: "mkdir", path }], parents))).toBe("parent_not_found");
    expect(await faultOf(ground.commit([ground.write("dangling/below/x", "")], parents))).toBe(
      "parent_not_found",
    );
    expect(ground.tree()).toEqual({ dangling: "-> nowhere" });
  });

  it("that dangles creates the target", async () => {
    using ground = new Ground({ "real/x": "" });
    symlinkSync("real/new", join(ground.inside, "link"));
    await ground.commit([ground.write("link", "new")]);
    expect(ground.tree()).toMatchObject({ link: "-> real/new", "real/new": "new" });
  });

  it("that leads out is refused, and nothing outside changes", async () => {
    using ground = new Ground();
    writeFileSync(join(ground.outside, "secret"), "secret");
    symlinkSync(join(ground.outside, "secret"), join(ground.inside, "link"));
    symlinkSync(join(ground.outside, "new"), join(ground.inside, "dangling"));
    symlinkSync(ground.outside, join(ground.inside, "directory"));
    for (const path of ["link", "dangling", "directory/secret", "directory/new"]) {
      expect(await faultOf(ground.commit([ground.write(path, "x")]))).toBe("outside_roots");
      expect(await faultOf(ground.commit([ground.write(path, "x")], { parents: true }))).toBe(
        "outside_roots",
      );
    }
    expect(ground.tree(ground.outside)).toEqual({ secret: "secret" });
  });

  it("is refused where links are, and a loop always", async () => {
    using ground = new Ground({ a: "a" });
    symlinkSync("a", join(ground.inside, "link"));
    symlinkSync("loop", join(ground.inside, "loop"));
    expect(await faultOf(ground.commit([ground.write("link", "x")], { links: "refuse" }))).toBe("is_a_link");
    expect(await faultOf(ground.commit([ground.write("loop", "x")]))).toBe("invalid_path");
    expect(ground.text("a")).toBe("a");
  });
});

describe("a file with other names", () => {
  it("is replaced under this name only, and the result says that there are others", async () => {
    using ground = new Ground({ a: "old" });
    linkSync(join(ground.inside, "a"), join(ground.outside, "b"));
    const commit = await ground.commit([ground.write("a", "new")]);
    expect(commit.files[0]?.otherNames).toBe(1);
    expect(ground.text("a")).toBe("new");
    expect(readFileSync(join(ground.outside, "b"), "utf8")).toBe("old");
  });

  it("is rewritten in place where links are kept", async () => {
    using ground = new Ground({ a: "old and longer" });
    linkSync(join(ground.inside, "a"), join(ground.inside, "b"));
    const inode = lstatSync(join(ground.inside, "a")).ino;
    await ground.commit([ground.write("a", "new")], { hardLinks: "keep" });
    expect(ground.tree()).toEqual({ a: "new", b: "new" });
    expect(lstatSync(join(ground.inside, "a")).ino).toBe(inode);
  });
});

describe("a removal", () => {
  it("takes files, links themselves, empty directories, and trees when told", async () => {
    using ground = new Ground({ a: "a", "t/x/y/z": "z", "t/w": "w", keep: "k" });
    mkdirSync(join(ground.inside, "empty"));
    symlinkSync(ground.outside, join(ground.inside, "link"));
    writeFileSync(join(ground.outside, "secret"), "secret");
    expect(await faultOf(ground.commit([{ kind: "remove", path: ground.at("t") }]))).toBe("not_empty");
    await ground.commit([
      { kind: "remove", path: ground.at("a") },
      { kind: "remove", path: ground.at("link"), recursive: true },
      { kind: "remove", path: ground.at("empty") },
      { kind: "remove", path: ground.at("t"), recursive: true },
    ]);
    await ground.workspace.settled();
    expect(ground.tree()).toEqual({ keep: "k" });
    expect(ground.tree(ground.outside)).toEqual({ secret: "secret" });
    expect(await faultOf(ground.commit([{ kind: "remove", path: ground.at("a") }]))).toBe("not_found");
  });

  it("of a tree hundreds of directories deep works", async () => {
    using ground = new Ground();
    await ground.commit([ground.write(`${"d/".repeat(600)}f`, "x")], { parents: true });
    await ground.commit([{ kind: "remove", path: ground.at("d"), recursive: true }]);
    await ground.workspace.settled();
    expect(ground.tree()).toEqual({});
  });

  it("never takes a root or what holds one, whatever the spelling", async () => {
    using ground = new Ground({ "a/b/c": "c" });
    symlinkSync(join(ground.inside, "a"), join(ground.inside, "alias"));
    using workspace = Workspace.open(
      [ground.inside, join(ground.inside, "a/b")].map(path => ({ path, access: "read-write" })),
      { state: ground.state },
    );
    for (const path of [".", ground.inside, "a", "a/b", "alias/b", "alias/../a/b/"]) {
      const from = workspace.at(path);
      const to = workspace.at("elsewhere");
      expect(await faultOf(workspace.commit([{ kind: "remove", path: from, recursive: true }]))).toBe(
        "protected_root",
      );
      expect(await faultOf(workspace.commit([{ kind: "move", from, to }]))).toBe("protected_root");
    }
    expect(ground.text("a/b/c")).toBe("c");
  });

  it("shows listeners the old content, trees included", async () => {
    using ground = new Ground({ "t/x/y": "inner", f: "file" });
    const seen: string[] = [];
    ground.workspace.onCommit(async commit => {
      for (const { before, kind } of commit.files) {
        if (kind === "file") seen.push(String(await before?.bytes()));
        if (kind !== "directory") continue;
        using directory = before?.directory();
        seen.push(...(directory?.entries() ?? []).map(entry => entry.name));
      }
    });
    await ground.commit([
      { kind: "remove", path: ground.at("t"), recursive: true },
      { kind: "remove", path: ground.at("f") },
      ground.write("g", "new"),
    ]);
    expect(seen).toEqual(["x", "file", "undefined"]);
  });
});

describe("a move", () => {
  it("renames files and trees, and refuses to replace unless told", async () => {
    using ground = new Ground({ a: "a", b: "b", "t/x": "x" });
    const move = (from: string, to: string, overwrite = false) =>
      ground.commit([{ kind: "move", from: ground.at(from), to: ground.at(to), overwrite }]);
    expect(await faultOf(move("a", "b"))).toBe("exists");
    expect(await faultOf(move("a", "t"))).toBe("exists");
    expect(await faultOf(move("a", "t", true))).toBe("not_a_file");
    expect(await faultOf(move("t", "b", true))).toBe("not_a_directory");
    expect(await faultOf(move("none", "c"))).toBe("not_found");
    const replaced = await move("a", "b", true);
    await move("t", "u");
    await ground.workspace.settled();
    expect(ground.tree()).toEqual({ b: "a", "u/": "/", "u/x": "x" });
    expect(replaced.files[0]).toMatchObject({ effect: "moved", from: { at: join(ground.inside, "a") } });
  });

  it("never goes into itself", async () => {
    using ground = new Ground({ "t/x": "x" });
    symlinkSync("t", join(ground.inside, "alias"));
    for (const to of ["t/u", "t/deep/u", "alias/u"]) {
      const change = { from: ground.at("t"), to: ground.at(to) };
      expect(await faultOf(ground.commit([{ kind: "move", ...change }], { parents: true }))).toBe(
        "into_itself",
      );
      expect(await faultOf(ground.commit([{ kind: "copy", ...change }], { parents: true }))).toBe(
        "into_itself",
      );
    }
    expect(ground.tree()).toEqual({ alias: "-> t", "t/": "/", "t/x": "x" });
  });

  it("with new content keeps the mode and is one step", async () => {
    using ground = new Ground({ a: "old" });
    chmodSync(join(ground.inside, "a"), 0o700);
    await ground.commit(
      [
        {
          kind: "move",
          from: ground.at("a"),
          to: ground.at("d/b"),
          bytes: Buffer.from("new"),
          expect: Buffer.from("old"),
        },
      ],
      { parents: true },
    );
    await ground.workspace.settled();
    expect(ground.tree()).toEqual({ "d/": "/", "d/b": "new" });
    expect(statSync(join(ground.inside, "d/b")).mode & 0o777).toBe(0o700);
  });

  it("of a link moves the link, and a change of case is a move", async () => {
    using ground = new Ground({ a: "a" });
    symlinkSync("a", join(ground.inside, "link"));
    await ground.commit([{ kind: "move", from: ground.at("link"), to: ground.at("moved") }]);
    await ground.commit([{ kind: "move", from: ground.at("a"), to: ground.at("A") }]);
    expect(ground.tree()).toEqual({ A: "a", moved: "-> a" });
  });

  it("between two names of one file drops the old name, when told to replace", async () => {
    using ground = new Ground({ a: "a" });
    linkSync(join(ground.inside, "a"), join(ground.inside, "b"));
    const change = { kind: "move", from: ground.at("a"), to: ground.at("b") } as const;
    expect(await faultOf(ground.commit([change]))).toBe("exists");
    await ground.commit([{ ...change, overwrite: true }]);
    await ground.workspace.settled();
    expect(ground.tree()).toEqual({ b: "a" });
  });

  it("to another device copies, verifies, and only then removes", async context => {
    if (!existsSync("/dev/shm") || statSync("/dev/shm").dev === statSync("/tmp").dev)
      return context.skip("needs a second device at /dev/shm");
    using ground = new Ground({ "t/x/y": "y", "t/z": "z", f: "f" });
    using far = new Ground({ g: "g" }, undefined, "/dev/shm");
    chmodSync(join(ground.inside, "t/z"), 0o640);
    symlinkSync("z", join(ground.inside, "t/link"));
    using workspace = Workspace.open(
      [ground.inside, far.inside].map(path => ({ path, access: "read-write" })),
      { state: ground.state },
    );
    await workspace.commit([
      { kind: "move", from: workspace.at("t"), to: workspace.at(`${far.inside}/t`) },
      { kind: "move", from: workspace.at("f"), to: workspace.at(`${far.inside}/g`), overwrite: true },
    ]);
    await workspace.settled();
    expect(ground.tree()).toEqual({});
    expect(far.tree()).toEqual({
      g: "f",
      "t/": "/",
      "t/link": "-> z",
      "t/x/": "/",
      "t/x/y": "y",
      "t/z": "z",
    });
    expect(statSync(join(far.inside, "t/z")).mode & 0o777).toBe(0o640);
  });
});

describe("copies and directories", () => {
  it("a copy is a file or a tree of its own", async () => {
    using ground = new Ground({ "t/x/y": "y", a: "a" });
    await ground.commit([
      { kind: "copy", from: ground.at("t"), to: ground.at("u") },
      { kind: "copy", from: ground.at("a"), to: ground.at("b") },
    ]);
    expect(ground.tree()).toMatchObject({ "u/x/y": "y", "t/x/y": "y", a: "a", b: "a" });
    expect(await faultOf(ground.commit([{ kind: "copy", from: ground.at("a"), to: ground.at("b") }]))).toBe(
      "exists",
    );
  });

  it("a directory that is there is no fault, something else in its place is", async () => {
    using ground = new Ground({ f: "f" });
    const made = await ground.commit([{ kind: "mkdir", path: ground.at("a/b") }], { parents: true });
    const again = await ground.commit([{ kind: "mkdir", path: ground.at("a/b") }]);
    const root = await ground.commit([{ kind: "mkdir", path: ground.at(".") }]);
    expect([made, again, root].map(commit => commit.files[0]?.effect)).toEqual(["created", "none", "none"]);
    expect(await faultOf(ground.commit([{ kind: "mkdir", path: ground.at("f") }]))).toBe("exists");
    // A link that leads out does not tell whether a directory is there.
    symlinkSync(ground.outside, join(ground.inside, "out"));
    symlinkSync(join(ground.outside, "nothing"), join(ground.inside, "nowhere"));
    for (const name of ["out", "nowhere"])
      expect(await faultOf(ground.commit([{ kind: "mkdir", path: ground.at(name) }]))).toBe("exists");
  });

  it("a directory and what goes into it can come in one commit", async () => {
    using ground = new Ground();
    await ground.commit([ground.write("d/f", "f"), { kind: "mkdir", path: ground.at("d") }], {
      parents: true,
    });
    await ground.commit([{ kind: "mkdir", path: ground.at("e") }, ground.write("e/f", "f")], {
      parents: true,
    });
    expect(ground.tree()).toEqual({ "d/": "/", "d/f": "f", "e/": "/", "e/f": "f" });
  });

  it("a link is made as it is written", async () => {
    using ground = new Ground();
    await ground.commit([{ kind: "symlink", path: ground.at("link"), target: "../anywhere" }]);
    expect(ground.tree()).toEqual({ link: "-> ../anywhere" });
  });
});

describe("a commit of several changes", () => {
  it("is refused as a whole when one of them is", async () => {
    using ground = new Ground({ a: "a", b: "b", "d/x": "x" });
    const before = ground.tree();
    const refusals: [Parameters<Ground["commit"]>[0], string][] = [
      [[ground.write("a", "1"), ground.write("none/b", "2")], "parent_not_found"],
      [[ground.write("a", "1"), ground.write("./a", "2")], "duplicate_path"],
      [[ground.write("a", "1"), ground.write("b", "2", { expect: Buffer.from("?") })], "changed_meanwhile"],
      [[ground.write("a", "1"), { kind: "remove", path: ground.at("d") }], "not_empty"],
      [
        [{ kind: "remove", path: ground.at("d"), recursive: true }, ground.write("d/x", "1")],
        "duplicate_path",
      ],
      [
        [{ kind: "move", from: ground.at("a"), to: ground.at("c") }, ground.write("c", "1")],
        "duplicate_path",
      ],
    ];
    for (const [changes, code] of refusals) expect(await faultOf(ground.commit(changes))).toBe(code);
    expect(ground.tree()).toEqual(before);
  });

  it("reports what was there and what is there now", async () => {
    using ground = new Ground({ a: "old" });
    let seen: Commit | undefined;
    let old = "";
    const stop = ground.workspace.onCommit(async commit => {
      seen = commit;
      old = String(await commit.files[0]?.before?.bytes());
    });
    const by = { action: "write", client: "test" };
    const commit = await ground.commit([ground.write("a", "new")], { by });
    expect(seen).toBe(commit);
    expect(commit).toMatchObject({ by, files: [{ before: { kind: "file", size: 3 }, after: { size: 3 } }] });
    expect([old, String(await commit.files[0]?.after?.bytes())]).toEqual(["old", "new"]);
    stop();
    await ground.commit([ground.write("a", "newer")]);
    expect(seen).toBe(commit);
  });

  it("leaves nothing temporary behind, and keeps user files that look so", async () => {
    const alike = `.polyfs-${"0".repeat(32)}.tmp`;
    using ground = new Ground({ [alike]: "mine" });
    expect(isTemporaryName(alike)).toBe(true);
    for (let i = 0; i < 20; i++)
      await ground.commit([ground.write("a", String(i)), ground.write("b", String(i))]);
    await ground.workspace.settled();
    expect(readdirSync(ground.inside).sort()).toEqual([alike, "a", "b"]);
  });

  it("never touches the state directory, even where it lies in a root", async () => {
    using ground = new Ground();
    using workspace = Workspace.open([{ path: ground.base, access: "read-write" }], { state: ground.state });
    await workspace.commit([{ kind: "write", path: workspace.at("inside/a"), bytes: Buffer.from("a") }]);
    const removal = (path: string) =>
      faultOf(workspace.commit([{ kind: "remove", path: workspace.at(path), recursive: true }]));
    expect(await removal("state")).toBe("protected_root");
    expect(await removal("state/locks")).toBe("outside_roots");
  });
});
