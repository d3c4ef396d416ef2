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
import { isTemporaryName } from "../../src/engine/workspace/disk/temporary.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { Fixture, faultOf } from "./fixture.ts";

describe("a write", () => {
  it("creates a file, and reports it", async () => {
    using fixture = new Fixture();
    const commit = await fixture.commit([fixture.write("new.txt", "hello")]);
    expect(fixture.tree()).toEqual({ "new.txt": "hello" });
    expect(commit.files[0]).toMatchObject({ effect: "created", kind: "file", otherNames: 0 });
    expect(lstatSync(join(fixture.inside, "new.txt")).mode & 0o777).toBe(0o666 & ~process.umask());
  });

  it("replaces a file as a whole and keeps its mode", async () => {
    using fixture = new Fixture({ a: "old" });
    chmodSync(join(fixture.inside, "a"), 0o751);
    const commit = await fixture.commit([fixture.write("a", "new")]);
    await fixture.workspace.settled();
    expect(fixture.tree()).toEqual({ a: "new" });
    expect(commit.files[0]?.effect).toBe("modified");
    expect(statSync(join(fixture.inside, "a")).mode & 0o7777).toBe(0o751);
  });

  it("keeps the owner if permitted", async context => {
    if (process.geteuid?.() !== 0) return context.skip("only root can give files away");
    using fixture = new Fixture({ a: "old" });
    const { chownSync } = await import("node:fs");
    chownSync(join(fixture.inside, "a"), 1234, 2345);
    await fixture.commit([fixture.write("a", "new")]);
    expect(statSync(join(fixture.inside, "a"))).toMatchObject({ uid: 1234, gid: 2345 });
  });

  it("makes missing parents only when asked", async () => {
    using fixture = new Fixture();
    expect(await faultOf(fixture.commit([fixture.write("a/b/c.txt", "x")]))).toBe("parent_not_found");
    const commit = await fixture.commit([fixture.write("a/b/c.txt", "x"), fixture.write("a/d.txt", "y")], {
      parents: true,
    });
    expect(fixture.tree()).toEqual({ "a/": "/", "a/b/": "/", "a/b/c.txt": "x", "a/d.txt": "y" });
    expect(commit.parents.map(path => path.slice(fixture.inside.length))).toEqual(["/a", "/a/b"]);
  });

  it("is made only if the file is still what the write was computed from", async () => {
    using fixture = new Fixture({ a: "one" });
    await fixture.commit([fixture.write("a", "two", { expect: Buffer.from("one") })]);
    const stale = fixture.commit([fixture.write("a", "three", { expect: Buffer.from("one") })]);
    expect(await faultOf(stale)).toBe("changed_meanwhile");
    const asked = fixture.commit([fixture.write("a", "three", { expect: bytes => bytes.length === 4 })]);
    expect(await faultOf(asked)).toBe("changed_meanwhile");
    expect(await faultOf(fixture.commit([fixture.write("a", "x", { expect: "absent" })]))).toBe("exists");
    expect(fixture.text("a")).toBe("two");
  });

  it("works for names of 250 bytes and for names that are not UTF-8", async () => {
    const long = "n".repeat(250);
    using fixture = new Fixture({ [long]: "old" });
    const odd = Buffer.concat([Buffer.from(`${fixture.inside}/odd-`), Buffer.from([0xff, 0xfe])]);
    writeFileSync(odd, "old");
    await fixture.commit([fixture.write(long, "new"), fixture.write("odd-\\xff\\xfe", "new")]);
    expect(fixture.text(long)).toBe("new");
    expect(readFileSync(odd, "utf8")).toBe("new");
  });

  it("of zeros only, of no bytes, and of 6 MB is complete", async () => {
    using fixture = new Fixture();
    const large = Buffer.alloc(6_000_000, "0123456789");
    await fixture.commit([
      { kind: "write", path: fixture.at("zeros"), bytes: Buffer.alloc(1000) },
      { kind: "write", path: fixture.at("empty"), bytes: Buffer.alloc(0) },
      { kind: "write", path: fixture.at("large"), bytes: large },
    ]);
    expect(readFileSync(join(fixture.inside, "zeros"))).toEqual(Buffer.alloc(1000));
    expect(fixture.text("empty")).toBe("");
    expect(readFileSync(join(fixture.inside, "large")).equals(large)).toBe(true);
  });

  it("to a directory, or below a file, is refused", async () => {
    using fixture = new Fixture({ "d/x": "x", f: "f" });
    expect(await faultOf(fixture.commit([fixture.write("d", "x")]))).toBe("not_a_file");
    expect(await faultOf(fixture.commit([fixture.write("f/g", "x")]))).toBe("not_a_directory");
    expect(await faultOf(fixture.commit([fixture.write("f/g/h", "x")], { parents: true }))).toBe(
      "not_a_directory",
    );
  });

  it("in a read-only root is refused, also below a writable root", async () => {
    using fixture = new Fixture({ "locked/a": "a" });
    using workspace = Workspace.open(
      [
        { path: fixture.inside, access: "read-write" },
        { path: join(fixture.inside, "locked"), access: "read-only" },
      ],
      { state: fixture.state },
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
    expect(fixture.text("free")).toBe("a");
  });
});

describe("a write to a symbolic link", () => {
  it("changes the target and keeps the link", async () => {
    using fixture = new Fixture({ "real/a": "old" });
    symlinkSync("real/a", join(fixture.inside, "link"));
    symlinkSync(join(fixture.inside, "link"), join(fixture.inside, "again"));
    const commit = await fixture.commit([fixture.write("again", "new")]);
    await fixture.workspace.settled();
    expect(fixture.tree()).toMatchObject({ link: "-> real/a", "real/a": "new" });
    expect(commit.files[0]?.at).toBe(join(fixture.inside, "real/a"));
  });

  it("that dangles in the path is not a directory, and none is made in its place", async () => {
    using fixture = new Fixture();
    symlinkSync("nowhere", join(fixture.inside, "dangling"));
    const path = fixture.workspace.at("dangling/below");
    const parents = { parents: true };
    expect(await faultOf(fixture.commit([{ kind: "mkdir", path }], parents))).toBe("parent_not_found");
    expect(await faultOf(fixture.commit([fixture.write("dangling/below/x", "")], parents))).toBe(
      "parent_not_found",
    );
    expect(fixture.tree()).toEqual({ dangling: "-> nowhere" });
  });

  it("that dangles creates the target", async () => {
    using fixture = new Fixture({ "real/x": "" });
    symlinkSync("real/new", join(fixture.inside, "link"));
    await fixture.commit([fixture.write("link", "new")]);
    expect(fixture.tree()).toMatchObject({ link: "-> real/new", "real/new": "new" });
  });

  it("that leads outside is refused, and nothing outside changes", async () => {
    using fixture = new Fixture();
    writeFileSync(join(fixture.outside, "secret"), "secret");
    symlinkSync(join(fixture.outside, "secret"), join(fixture.inside, "link"));
    symlinkSync(join(fixture.outside, "new"), join(fixture.inside, "dangling"));
    symlinkSync(fixture.outside, join(fixture.inside, "directory"));
    for (const path of ["link", "dangling", "directory/secret", "directory/new"]) {
      expect(await faultOf(fixture.commit([fixture.write(path, "x")]))).toBe("outside_roots");
      expect(await faultOf(fixture.commit([fixture.write(path, "x")], { parents: true }))).toBe(
        "outside_roots",
      );
    }
    expect(fixture.tree(fixture.outside)).toEqual({ secret: "secret" });
  });

  it("is refused where links are refused, and a loop always", async () => {
    using fixture = new Fixture({ a: "a" });
    symlinkSync("a", join(fixture.inside, "link"));
    symlinkSync("loop", join(fixture.inside, "loop"));
    expect(await faultOf(fixture.commit([fixture.write("link", "x")], { links: "refuse" }))).toBe(
      "is_a_link",
    );
    expect(await faultOf(fixture.commit([fixture.write("loop", "x")]))).toBe("invalid_path");
    expect(fixture.text("a")).toBe("a");
  });
});

describe("a file with other names", () => {
  it("is replaced under this name only, and the result says that there are others", async () => {
    using fixture = new Fixture({ a: "old" });
    linkSync(join(fixture.inside, "a"), join(fixture.outside, "b"));
    const commit = await fixture.commit([fixture.write("a", "new")]);
    expect(commit.files[0]?.otherNames).toBe(1);
    expect(fixture.text("a")).toBe("new");
    expect(readFileSync(join(fixture.outside, "b"), "utf8")).toBe("old");
  });

  it("is rewritten in place where links are kept", async () => {
    using fixture = new Fixture({ a: "old and longer" });
    linkSync(join(fixture.inside, "a"), join(fixture.inside, "b"));
    const inode = lstatSync(join(fixture.inside, "a")).ino;
    await fixture.commit([fixture.write("a", "new")], { hardLinks: "keep" });
    expect(fixture.tree()).toEqual({ a: "new", b: "new" });
    expect(lstatSync(join(fixture.inside, "a")).ino).toBe(inode);
  });
});

describe("a removal", () => {
  it("removes files, links themselves, empty directories, and trees when asked", async () => {
    using fixture = new Fixture({ a: "a", "t/x/y/z": "z", "t/w": "w", keep: "k" });
    mkdirSync(join(fixture.inside, "empty"));
    symlinkSync(fixture.outside, join(fixture.inside, "link"));
    writeFileSync(join(fixture.outside, "secret"), "secret");
    expect(await faultOf(fixture.commit([{ kind: "remove", path: fixture.at("t") }]))).toBe("not_empty");
    await fixture.commit([
      { kind: "remove", path: fixture.at("a") },
      { kind: "remove", path: fixture.at("link"), recursive: true },
      { kind: "remove", path: fixture.at("empty") },
      { kind: "remove", path: fixture.at("t"), recursive: true },
    ]);
    await fixture.workspace.settled();
    expect(fixture.tree()).toEqual({ keep: "k" });
    expect(fixture.tree(fixture.outside)).toEqual({ secret: "secret" });
    expect(await faultOf(fixture.commit([{ kind: "remove", path: fixture.at("a") }]))).toBe("not_found");
  });

  it("of a tree hundreds of directories deep works", async () => {
    using fixture = new Fixture();
    await fixture.commit([fixture.write(`${"d/".repeat(600)}f`, "x")], { parents: true });
    await fixture.commit([{ kind: "remove", path: fixture.at("d"), recursive: true }]);
    await fixture.workspace.settled();
    expect(fixture.tree()).toEqual({});
  });

  it("never removes a root or a directory that holds one, however it is spelled", async () => {
    using fixture = new Fixture({ "a/b/c": "c" });
    symlinkSync(join(fixture.inside, "a"), join(fixture.inside, "alias"));
    using workspace = Workspace.open(
      [fixture.inside, join(fixture.inside, "a/b")].map(path => ({ path, access: "read-write" })),
      { state: fixture.state },
    );
    for (const path of [".", fixture.inside, "a", "a/b", "alias/b", "alias/../a/b/"]) {
      const from = workspace.at(path);
      const to = workspace.at("elsewhere");
      expect(await faultOf(workspace.commit([{ kind: "remove", path: from, recursive: true }]))).toBe(
        "protected_root",
      );
      expect(await faultOf(workspace.commit([{ kind: "move", from, to }]))).toBe("protected_root");
    }
    expect(fixture.text("a/b/c")).toBe("c");
  });

  it("shows listeners the old content, trees included", async () => {
    using fixture = new Fixture({ "t/x/y": "inner", f: "file" });
    const seen: string[] = [];
    fixture.workspace.onCommit(async commit => {
      for (const { before, kind } of commit.files) {
        if (kind === "file") seen.push(String(await before?.bytes()));
        if (kind !== "directory") continue;
        using directory = before?.directory();
        seen.push(...(directory?.entries() ?? []).map(entry => entry.name));
      }
    });
    await fixture.commit([
      { kind: "remove", path: fixture.at("t"), recursive: true },
      { kind: "remove", path: fixture.at("f") },
      fixture.write("g", "new"),
    ]);
    expect(seen).toEqual(["x", "file", "undefined"]);
  });
});

describe("a move", () => {
  it("renames files and trees, and refuses to replace unless told", async () => {
    using fixture = new Fixture({ a: "a", b: "b", "t/x": "x" });
    const move = (from: string, to: string, overwrite = false) =>
      fixture.commit([{ kind: "move", from: fixture.at(from), to: fixture.at(to), overwrite }]);
    expect(await faultOf(move("a", "b"))).toBe("exists");
    expect(await faultOf(move("a", "t"))).toBe("exists");
    expect(await faultOf(move("a", "t", true))).toBe("not_a_file");
    expect(await faultOf(move("t", "b", true))).toBe("not_a_directory");
    expect(await faultOf(move("none", "c"))).toBe("not_found");
    const replaced = await move("a", "b", true);
    await move("t", "u");
    await fixture.workspace.settled();
    expect(fixture.tree()).toEqual({ b: "a", "u/": "/", "u/x": "x" });
    expect(replaced.files[0]).toMatchObject({ effect: "moved", from: { at: join(fixture.inside, "a") } });
  });

  it("is never made into itself", async () => {
    using fixture = new Fixture({ "t/x": "x" });
    symlinkSync("t", join(fixture.inside, "alias"));
    for (const to of ["t/u", "t/deep/u", "alias/u"]) {
      const change = { from: fixture.at("t"), to: fixture.at(to) };
      expect(await faultOf(fixture.commit([{ kind: "move", ...change }], { parents: true }))).toBe(
        "into_itself",
      );
      expect(await faultOf(fixture.commit([{ kind: "copy", ...change }], { parents: true }))).toBe(
        "into_itself",
      );
    }
    expect(fixture.tree()).toEqual({ alias: "-> t", "t/": "/", "t/x": "x" });
  });

  it("with new content keeps the mode and is one step", async () => {
    using fixture = new Fixture({ a: "old" });
    chmodSync(join(fixture.inside, "a"), 0o700);
    await fixture.commit(
      [
        {
          kind: "move",
          from: fixture.at("a"),
          to: fixture.at("d/b"),
          bytes: Buffer.from("new"),
          expect: Buffer.from("old"),
        },
      ],
      { parents: true },
    );
    await fixture.workspace.settled();
    expect(fixture.tree()).toEqual({ "d/": "/", "d/b": "new" });
    expect(statSync(join(fixture.inside, "d/b")).mode & 0o777).toBe(0o700);
  });

  it("of a link moves the link, and a change of case is a move", async () => {
    using fixture = new Fixture({ a: "a" });
    symlinkSync("a", join(fixture.inside, "link"));
    await fixture.commit([{ kind: "move", from: fixture.at("link"), to: fixture.at("moved") }]);
    await fixture.commit([{ kind: "move", from: fixture.at("a"), to: fixture.at("A") }]);
    expect(fixture.tree()).toEqual({ A: "a", moved: "-> a" });
  });

  it("between two names of one file drops the old name, when told to replace", async () => {
    using fixture = new Fixture({ a: "a" });
    linkSync(join(fixture.inside, "a"), join(fixture.inside, "b"));
    const change = { kind: "move", from: fixture.at("a"), to: fixture.at("b") } as const;
    expect(await faultOf(fixture.commit([change]))).toBe("exists");
    await fixture.commit([{ ...change, overwrite: true }]);
    await fixture.workspace.settled();
    expect(fixture.tree()).toEqual({ b: "a" });
  });

  it("to another device copies, verifies, and only then removes", async context => {
    if (!existsSync("/dev/shm") || statSync("/dev/shm").dev === statSync("/tmp").dev)
      return context.skip("needs a second device at /dev/shm");
    using fixture = new Fixture({ "t/x/y": "y", "t/z": "z", f: "f" });
    using far = new Fixture({ g: "g" }, undefined, "/dev/shm");
    chmodSync(join(fixture.inside, "t/z"), 0o640);
    symlinkSync("z", join(fixture.inside, "t/link"));
    using workspace = Workspace.open(
      [fixture.inside, far.inside].map(path => ({ path, access: "read-write" })),
      { state: fixture.state },
    );
    await workspace.commit([
      { kind: "move", from: workspace.at("t"), to: workspace.at(`${far.inside}/t`) },
      { kind: "move", from: workspace.at("f"), to: workspace.at(`${far.inside}/g`), overwrite: true },
    ]);
    await workspace.settled();
    expect(fixture.tree()).toEqual({});
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
  it("a copy is independent of its source", async () => {
    using fixture = new Fixture({ "t/x/y": "y", a: "a" });
    await fixture.commit([
      { kind: "copy", from: fixture.at("t"), to: fixture.at("u") },
      { kind: "copy", from: fixture.at("a"), to: fixture.at("b") },
    ]);
    expect(fixture.tree()).toMatchObject({ "u/x/y": "y", "t/x/y": "y", a: "a", b: "a" });
    expect(
      await faultOf(fixture.commit([{ kind: "copy", from: fixture.at("a"), to: fixture.at("b") }])),
    ).toBe("exists");
  });

  it("an existing directory is no fault, something else in its place is", async () => {
    using fixture = new Fixture({ f: "f" });
    const made = await fixture.commit([{ kind: "mkdir", path: fixture.at("a/b") }], { parents: true });
    const again = await fixture.commit([{ kind: "mkdir", path: fixture.at("a/b") }]);
    const root = await fixture.commit([{ kind: "mkdir", path: fixture.at(".") }]);
    expect([made, again, root].map(commit => commit.files[0]?.effect)).toEqual(["created", "none", "none"]);
    expect(await faultOf(fixture.commit([{ kind: "mkdir", path: fixture.at("f") }]))).toBe("exists");
    // A link that leads outside does not tell whether a directory is there.
    symlinkSync(fixture.outside, join(fixture.inside, "out"));
    symlinkSync(join(fixture.outside, "nothing"), join(fixture.inside, "nowhere"));
    for (const name of ["out", "nowhere"])
      expect(await faultOf(fixture.commit([{ kind: "mkdir", path: fixture.at(name) }]))).toBe("exists");
  });

  it("a directory and what goes into it can come in one commit", async () => {
    using fixture = new Fixture();
    await fixture.commit([fixture.write("d/f", "f"), { kind: "mkdir", path: fixture.at("d") }], {
      parents: true,
    });
    await fixture.commit([{ kind: "mkdir", path: fixture.at("e") }, fixture.write("e/f", "f")], {
      parents: true,
    });
    expect(fixture.tree()).toEqual({ "d/": "/", "d/f": "f", "e/": "/", "e/f": "f" });
  });

  it("a link is made as it is written", async () => {
    using fixture = new Fixture();
    await fixture.commit([{ kind: "symlink", path: fixture.at("link"), target: "../anywhere" }]);
    expect(fixture.tree()).toEqual({ link: "-> ../anywhere" });
  });
});

describe("a commit of several changes", () => {
  it("is refused as a whole if one of them is refused", async () => {
    using fixture = new Fixture({ a: "a", b: "b", "d/x": "x" });
    const before = fixture.tree();
    const refusals: [Parameters<Fixture["commit"]>[0], string][] = [
      [[fixture.write("a", "1"), fixture.write("none/b", "2")], "parent_not_found"],
      [[fixture.write("a", "1"), fixture.write("./a", "2")], "duplicate_path"],
      [[fixture.write("a", "1"), fixture.write("b", "2", { expect: Buffer.from("?") })], "changed_meanwhile"],
      [[fixture.write("a", "1"), { kind: "remove", path: fixture.at("d") }], "not_empty"],
      [
        [{ kind: "remove", path: fixture.at("d"), recursive: true }, fixture.write("d/x", "1")],
        "duplicate_path",
      ],
      [
        [{ kind: "move", from: fixture.at("a"), to: fixture.at("c") }, fixture.write("c", "1")],
        "duplicate_path",
      ],
    ];
    for (const [changes, code] of refusals) expect(await faultOf(fixture.commit(changes))).toBe(code);
    expect(fixture.tree()).toEqual(before);
  });

  it("reports the old and the new state", async () => {
    using fixture = new Fixture({ a: "old" });
    let seen: Commit | undefined;
    let old = "";
    const stop = fixture.workspace.onCommit(async commit => {
      seen = commit;
      old = String(await commit.files[0]?.before?.bytes());
    });
    const by = { action: "write", client: "test" };
    const commit = await fixture.commit([fixture.write("a", "new")], { by });
    expect(seen).toBe(commit);
    expect(commit).toMatchObject({ by, files: [{ before: { kind: "file", size: 3 }, after: { size: 3 } }] });
    expect([old, String(await commit.files[0]?.after?.bytes())]).toEqual(["old", "new"]);
    stop();
    await fixture.commit([fixture.write("a", "newer")]);
    expect(seen).toBe(commit);
  });

  it("leaves no temporary files behind, and keeps user files that look like them", async () => {
    const alike = `.polyfs-${"0".repeat(32)}.tmp`;
    using fixture = new Fixture({ [alike]: "mine" });
    expect(isTemporaryName(alike)).toBe(true);
    for (let i = 0; i < 20; i++)
      await fixture.commit([fixture.write("a", String(i)), fixture.write("b", String(i))]);
    await fixture.workspace.settled();
    expect(readdirSync(fixture.inside).sort()).toEqual([alike, "a", "b"]);
  });

  it("never changes the state directory, even where it is inside a root", async () => {
    using fixture = new Fixture();
    using workspace = Workspace.open([{ path: fixture.base, access: "read-write" }], {
      state: fixture.state,
    });
    await workspace.commit([{ kind: "write", path: workspace.at("inside/a"), bytes: Buffer.from("a") }]);
    const removal = (path: string) =>
      faultOf(workspace.commit([{ kind: "remove", path: workspace.at(path), recursive: true }]));
    expect(await removal("state")).toBe("protected_root");
    expect(await removal("state/locks")).toBe("outside_roots");
  });
});
