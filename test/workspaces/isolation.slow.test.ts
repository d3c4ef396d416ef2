// What a fork shares with its base and with other forks is never changed through it, whatever a program does in it:
// shown for each way of copying that this machine can do. As root, file systems with reflinks are made for it.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, lstatSync, mkdtempSync, rmdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { undo } from "../../src/engine/history/undo.ts";
import type { CopyMethod } from "../../src/engine/workspaces/record.ts";
import { hasProc } from "../setup/proc.ts";
import { Fixture, treeOf } from "./fixture.ts";

/** mkfs and umount read /proc. */
const canMount = process.getuid?.() === 0 && process.platform === "linux" && hasProc;

/** A file system in a file, mounted for one test. */
function mounted(kind: "btrfs" | "xfs"): string {
  const directory = mkdtempSync(join(tmpdir(), `polyfs-${kind}-`));
  const image = `${directory}.img`;
  execFileSync("truncate", ["-s", "512M", image]);
  execFileSync(`mkfs.${kind}`, [kind === "xfs" ? "-q" : "-q", image]);
  execFileSync("mount", ["-o", "loop", image, directory]);
  onTestFinished(() => {
    execFileSync("umount", ["-l", directory]);
    rmdirSync(directory);
    rmSync(image);
  });
  return directory;
}

const has = (program: string) => spawnSync("which", [program]).status === 0;

const places: readonly (readonly [string, CopyMethod, () => string])[] = [
  ["a copy", "copy", tmpdir],
  ["hard links", "link", tmpdir],
  ...(canMount ? ([["an overlay mount", "overlay", tmpdir]] as const) : []),
  ...(canMount && has("mkfs.btrfs")
    ? ([["reflinks on btrfs", "reflink", () => mounted("btrfs")]] as const)
    : []),
  ...(canMount && has("mkfs.xfs") ? ([["reflinks on XFS", "reflink", () => mounted("xfs")]] as const) : []),
];

/** Everything that could reach shared bytes: in place, through maps, links and attributes. */
const attack = `
set -e
printf more >> append.txt
printf X | dd of=overwrite.txt bs=1 seek=1 conv=notrunc status=none
: > truncate.txt
chmod 700 mode.txt
touch -d 2001-01-01 times.txt
setfattr -n user.note -v changed attribute.txt 2>/dev/null || true
ln hard.txt other-name
printf through >> other-name
rm -rf directory/deep
mv moved.txt directory/moved.txt
ln -sf elsewhere link
chown 1:1 owner.txt 2>/dev/null || true
python3 - <<'END' 2>/dev/null || true
import mmap
with open("mapped.txt", "r+b") as f:
    m = mmap.mmap(f.fileno(), 0)
    m[0:3] = b"MAP"
    m.flush()
END
sed -i s/a/b/ sed.txt
`;

const names = [
  "append",
  "overwrite",
  "truncate",
  "mode",
  "times",
  "attribute",
  "hard",
  "moved",
  "owner",
  "mapped",
  "sed",
];

/** What can be told about a tree from outside: contents, and what the system says about each file. */
function witness(root: string): unknown {
  const stats = [...names.map(name => `${name}.txt`), "link", "directory", "directory/deep/file"].map(
    name => {
      const { mode, size, mtimeMs, uid } = lstatSync(join(root, name));
      return [name, mode, size, mtimeMs, uid];
    },
  );
  const attributes = has("getfattr")
    ? spawnSync("getfattr", ["-R", "-d", "."], { cwd: root, encoding: "utf8" }).stdout
    : "";
  return { tree: treeOf(root), stats, attributes };
}

describe.each(places)("a fork by %s", (_, method, above) => {
  it("changes neither its base, nor the snapshot, nor another fork", async () => {
    using fixture = new Fixture(method, above());
    const files = Object.fromEntries(names.map(name => [`${name}.txt`, `a ${name}\n`.repeat(2000)]));
    const { base, fork } = await fixture.forked({
      ...files,
      link: "a file\n",
      "directory/deep/file": "deep\n",
    });
    const other = await fixture.workspaces.fork("other", "main", "me");
    const snapshot = fixture.workspaces.snapshots.treeOf(fork.snapshot ?? "");
    const watched = [base, snapshot, other.root];
    const before = watched.map(witness);
    await fixture.workspaces.readyForCommands(fork);
    execFileSync("sh", ["-c", attack], { cwd: fork.root });
    expect(watched.map(witness)).toEqual(before);
    expect(treeOf(fork.root)["truncate.txt"]).toBe("");
    expect(statSync(join(fork.root, "mode.txt")).mode & 0o777).toBe(0o700);
    const changed = (await fixture.workspaces.diff(fork, fixture.opener)).map(({ path }) => path);
    expect(changed).toEqual(expect.arrayContaining(["append.txt", "overwrite.txt", "mode.txt", "sed.txt"]));
    expect(changed).not.toContain("times.txt");
    // And the other way round: what happens to the base does not show in its forks.
    execFileSync("sh", ["-c", "echo base > sed.txt; rm append.txt; chmod 600 mode.txt"], { cwd: base });
    expect(witness(other.root)).toEqual(before[2]);
  });

  it("moves what it has from its base, and undoes that; not what was put in its place", async () => {
    using fixture = new Fixture(method, above());
    const { fork } = await fixture.forked({ "a.txt": "a\n", "directory/file": "b\n" });
    using tree = fixture.workspaces.openTree(fork, fixture.opener, "read-write");
    const before = treeOf(fork.root);
    for (const name of ["a.txt", "directory"]) {
      await tree.commit([{ kind: "move", from: tree.at(name), to: tree.at("moved") }]);
      await undo(tree);
      expect(treeOf(fork.root)).toEqual(before);
    }
    await tree.commit([{ kind: "move", from: tree.at("a.txt"), to: tree.at("moved") }]);
    execFileSync("sh", ["-c", "rm moved; echo other > moved"], { cwd: fork.root });
    await expect(undo(tree)).rejects.toMatchObject({ code: "stale" });
  });

  it("keeps modes, links, times and names that are not UTF-8", async () => {
    using fixture = new Fixture(method, above());
    const base = fixture.files("base", {
      "run.sh": "#!/bin/sh\n",
      "read-only/file": "x\n",
      "empty/file": "",
    });
    execFileSync("sh", ["-c", `printf odd > "$(printf 'n\\377me')"; ln -s ../outside link; mkdir hollow`], {
      cwd: base,
    });
    chmodSync(join(base, "run.sh"), 0o755);
    chmodSync(join(base, "read-only"), 0o555);
    execFileSync("sh", ["-c", "find . -exec touch -h -d '2001-02-03 04:05' {} +"], { cwd: base });
    await fixture.workspaces.adopt("main", base, "me");
    const fork = await fixture.workspaces.fork("task", "main", "me");
    const listing = (cwd: string) =>
      execFileSync("find", [".", "-mindepth", "1", "-printf", "%P %M %s %l %TY%Tm%Td%TH%TM\n"], {
        cwd,
        encoding: "latin1",
      })
        .split("\n")
        .sort();
    const sizeless = (lines: string[]) => lines.map(line => line.replace(/^(.* d\S+) \d+/, "$1"));
    expect(sizeless(listing(fork.root))).toEqual(sizeless(listing(base)));
    expect(await fixture.workspaces.diff(fork, fixture.opener)).toEqual([]);
    chmodSync(join(base, "read-only"), 0o755);
  });
});
