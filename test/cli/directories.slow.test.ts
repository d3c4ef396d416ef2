// Which directories a start serves, with what access, and which it refuses.
import { chmodSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { polyfs, served, tree } from "./program.ts";

describe("directories on the command line", () => {
  it("are read-write when they are named alone", () => {
    const root = tree("a", "b");
    expect(served([`${root}/a`, "b"], { cwd: root })).toEqual([
      `${root}/a (read-write)`,
      `${root}/b (read-write)`,
    ]);
  });

  it("keep their order whatever option names them", () => {
    const root = tree("a", "b", "c", "d");
    const args = ["--allow-read", "a", "--allow-write=b", "c", "--workspace", "d"];
    expect(served(args, { cwd: root })).toEqual([
      `${root}/a (read-only)`,
      `${root}/b (read-write)`,
      `${root}/c (read-write)`,
      `${root}/d (read-write)`,
    ]);
  });

  it("are merged when they are the same, and read-write wins", () => {
    const root = tree("a");
    symlinkSync("a", join(root, "link"));
    expect(served(["--allow-read", "a", "--allow-write", "link"], { cwd: root })).toEqual([
      `${root}/a (read-write)`,
    ]);
  });

  it("are all read-only with --read-only", () => {
    const root = tree("a", "b");
    expect(served(["--read-only", "a", "--allow-write", "b"], { cwd: root })).toEqual([
      `${root}/a (read-only)`,
      `${root}/b (read-only)`,
    ]);
  });

  it("may look like options after --", () => {
    const root = tree("--read-only", "-x");
    expect(served(["--", "--read-only", "-x"], { cwd: root })).toEqual([
      `${root}/--read-only (read-write)`,
      `${root}/-x (read-write)`,
    ]);
  });

  it("may start at home, because clients start servers without a shell", () => {
    const root = tree("notes");
    expect(served(["~/notes"], { env: { HOME: root } })).toEqual([`${root}/notes (read-write)`]);
  });

  it("default to the working directory where the dialect says so, and --read-only holds there too", () => {
    const root = tree();
    expect(served([], { cwd: root })).toEqual([`${root} (read-write)`]);
    expect(served(["--read-only"], { cwd: root })).toEqual([`${root} (read-only)`]);
  });
});

describe("a directory that cannot be served is reported in one line, with code 2", () => {
  const refused = (args: string[], circumstances?: Parameters<typeof polyfs>[1]) => {
    const ending = polyfs(["--dialect", "fs", ...args], circumstances);
    expect(ending.code).toBe(2);
    expect(ending.stdout).toBe("");
    expect(ending.stderr.match(/\n/g)).toHaveLength(1);
    return ending.stderr;
  };

  it("because it is missing", () => {
    const root = tree("a");
    expect(refused(["a", "b"], { cwd: root })).toBe(`polyfs: no such directory: ${root}/b\n`);
  });

  it("because the dialect serves only one directory", () => {
    const root = tree("a", "b");
    expect(refused(["a", "b"], { cwd: root })).toContain("the dialect fs serves one directory");
    expect(polyfs(["--dialect", "fs", "a", "./b/../a"], { cwd: root }).code).toBe(0);
  });

  it("because it is a file", () => {
    const root = tree();
    writeFileSync(join(root, "file"), "");
    expect(refused(["file"], { cwd: root })).toBe(`polyfs: not a directory: ${root}/file\n`);
  });

  it("because it cannot be read", () => {
    const root = tree("locked");
    chmodSync(root, 0o755);
    chmodSync(join(root, "locked"), 0o000);
    // The superuser may read everything, so the program runs as another user there.
    const uid = process.getuid?.() === 0 ? { uid: 65534 } : {};
    const said = refused(["locked"], { cwd: root, ...uid });
    expect(said).toBe(`polyfs: a directory cannot be served: Permission denied: ${root}/locked\n`);
  });

  it("because it is the whole file system, under any name, unless an option allows that", () => {
    const root = tree();
    symlinkSync("/", join(root, "all"));
    const said =
      "polyfs: / is the whole filesystem: name directories in it, or add --allow-filesystem-root\n";
    expect(refused(["/"])).toBe(said);
    expect(refused(["/usr/.."])).toBe(said);
    expect(refused(["all"], { cwd: root })).toBe(said);
    expect(refused([], { cwd: "/" })).toBe(said);
    expect(served(["--allow-filesystem-root", "all"], { cwd: root })).toEqual(["/ (read-write)"]);
  });

  it("even if its name has several lines", () => {
    expect(refused(["a\nb"], { cwd: tree() })).toContain("a\\x0ab");
  });

  it("because its name is empty", () => {
    expect(refused([""])).toBe("polyfs: a directory needs a value\n");
  });
});
