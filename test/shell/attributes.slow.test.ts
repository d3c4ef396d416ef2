// A file that is replaced keeps its extended attributes, though its bytes come into a new file.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openEngine } from "../../src/engine/engine.ts";
import { bundle } from "../commit/bundle.ts";

const python = (script: string, ...args: string[]) =>
  execFileSync("python3", ["-c", script, ...args])
    .toString()
    .trim();

function canSetAttributes(file: string): boolean {
  try {
    python("import os,sys; os.setxattr(sys.argv[1], 'user.note', b'kept')", file);
    return true;
  } catch {
    return false;
  }
}

it("extended attributes survive an edit, and another one", async context => {
  const base = mkdtempSync(join(tmpdir(), "polyfs-attributes-"));
  const file = join(base, "file");
  writeFileSync(file, "one");
  writeFileSync(join(base, "plain"), "one");
  if (!canSetAttributes(file)) context.skip("no python3, or a file system without extended attributes");
  using engine = openEngine({ roots: [{ path: base, access: "read-write" }], state: `${base}-state` });
  const { workspace } = engine;
  for (const content of ["two", "three"]) {
    for (const name of ["file", "plain"])
      await workspace.edit(workspace.at(name), () => Buffer.from(content));
    expect(readFileSync(file, "utf8")).toBe(content);
    expect(python("import os,sys; print(os.getxattr(sys.argv[1], 'user.note').decode())", file)).toBe("kept");
    expect(python("import os,sys; print(os.listxattr(sys.argv[1]))", join(base, "plain"))).toBe("[]");
  }
  rmSync(base, { recursive: true });
});

it("attributes that a file gets between two edits survive the second, and so do those of a new file in its place", async context => {
  const base = mkdtempSync(join(tmpdir(), "polyfs-attributes-"));
  const file = join(base, "file");
  writeFileSync(file, "zero");
  using engine = openEngine({ roots: [{ path: base, access: "read-write" }], state: `${base}-state` });
  const { workspace } = engine;
  const edit = (content: string) => workspace.edit(workspace.at("file"), () => Buffer.from(content));
  const note = () => python("import os,sys; print(os.getxattr(sys.argv[1], 'user.note').decode())", file);
  await edit("one");
  await edit("two");
  if (!canSetAttributes(file)) context.skip("no python3, or a file system without extended attributes");
  await edit("three");
  expect(note()).toBe("kept");
  for (let round = 0; round < 5; round++) {
    rmSync(file);
    writeFileSync(file, "plain"); // often with the number of one that is gone
    await edit("one");
    await workspace.settled();
    rmSync(file);
    writeFileSync(file, "noted");
    canSetAttributes(file);
    await edit("two");
    expect(note()).toBe("kept");
  }
  rmSync(base, { recursive: true });
});

const noteOf = (file: string) =>
  python("import os,sys; print(os.getxattr(sys.argv[1], 'user.note').decode())", file);
const attributesOf = (file: string) => python("import os,sys; print(os.listxattr(sys.argv[1]))", file);

it("of several files in one commit each keeps its own attributes", async context => {
  const base = mkdtempSync(join(tmpdir(), "polyfs-attributes-"));
  const names = ["a", "noted", "b"];
  for (const name of names) writeFileSync(join(base, name), "one");
  if (!canSetAttributes(join(base, "noted")))
    context.skip("no python3, or a file system without extended attributes");
  using engine = openEngine({ roots: [{ path: base, access: "read-write" }], state: `${base}-state` });
  const { workspace } = engine;
  for (const content of ["two", "three"]) {
    await workspace.editAll(
      names.map(name => workspace.at(name)),
      files => files.map(({ path }) => ({ kind: "write", path, bytes: Buffer.from(content) })),
    );
    expect(noteOf(join(base, "noted"))).toBe("kept");
    for (const name of ["a", "b"]) expect(attributesOf(join(base, name))).toBe("[]");
  }
  rmSync(base, { recursive: true });
});

/** Shells that this process has started to ask about attributes. */
function askingShells(): number[] {
  return readdirSync("/proc")
    .filter(name => /^\d+$/.test(name))
    .filter(pid => {
      try {
        const parent = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)?.split(" ")[1];
        const isShell = readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith("/bin/sh\0-c\0");
        return isShell && Number(parent) === process.pid;
      } catch {
        return false;
      }
    })
    .map(Number);
}

it("attributes survive an edit when the shell that was asked about them is killed meanwhile", async context => {
  const base = mkdtempSync(join(tmpdir(), "polyfs-attributes-"));
  const file = join(base, "file");
  writeFileSync(file, "one");
  writeFileSync(join(base, "other"), "one");
  if (!canSetAttributes(file)) context.skip("no python3, or a file system without extended attributes");
  using engine = openEngine({ roots: [{ path: base, access: "read-write" }], state: `${base}-state` });
  const { workspace } = engine;
  await workspace.edit(workspace.at("other"), () => Buffer.from("two"));
  const shells = askingShells();
  expect(shells).toHaveLength(1);
  for (const pid of shells) process.kill(pid, "SIGSTOP");
  await workspace.edit(workspace.at("file"), () => {
    for (const pid of shells) process.kill(pid, "SIGKILL");
    return Buffer.from("two");
  });
  expect(readFileSync(file, "utf8")).toBe("two");
  expect(noteOf(file)).toBe("kept");
  rmSync(base, { recursive: true });
});

it("attributes are not lost when the helper cannot be started because too many files are open", async context => {
  const base = mkdtempSync(join(tmpdir(), "polyfs-attributes-"));
  const file = join(base, "file");
  writeFileSync(file, "one");
  if (!canSetAttributes(file)) context.skip("no python3, or a file system without extended attributes");
  using script = await bundle("../shell/few-descriptors-program.ts");
  const command = `ulimit -n 80; exec "$0" "$@"`;
  const args = [process.execPath, script.path, base, `${base}-state`];
  const complaints = new Set(
    execFileSync("sh", ["-c", command, ...args])
      .toString()
      .trim()
      .split("\n"),
  );
  expect([...complaints]).toEqual(["too_many_open_files"]);
  expect(readFileSync(file, "utf8")).toBe("with 39");
  expect(python("import os,sys; print(os.getxattr(sys.argv[1], 'user.note').decode())", file)).toBe("kept");
  rmSync(base, { recursive: true });
});

const grantToAnother = `
import os,struct,sys
entries = [(1, 6, 2**32-1), (2, 7, 1000), (4, 4, 2**32-1), (16, 7, 2**32-1), (32, 4, 2**32-1)]
acl = struct.pack('<I', 2) + b''.join(struct.pack('<HHI', *entry) for entry in entries)
os.setxattr(sys.argv[1], 'system.posix_acl_access', acl)`;
const aclOf = (file: string) =>
  python("import os,sys; print(os.getxattr(sys.argv[1], 'system.posix_acl_access').hex())", file);

it("an ACL stays, so the group of the file gets no rights that only the ACL's mask named", async context => {
  const base = mkdtempSync(join(tmpdir(), "polyfs-attributes-"));
  const names = ["plain", "granted", "both", "noted"];
  for (const name of names) writeFileSync(join(base, name), "one");
  try {
    for (const name of ["granted", "both"]) python(grantToAnother, join(base, name));
  } catch {
    context.skip("no python3, or a file system without ACLs");
  }
  for (const name of ["both", "noted"]) canSetAttributes(join(base, name));
  const before = aclOf(join(base, "granted"));
  using engine = openEngine({ roots: [{ path: base, access: "read-write" }], state: `${base}-state` });
  const { workspace } = engine;
  const write = (content: string, some: readonly string[]) =>
    workspace.editAll(
      some.map(name => workspace.at(name)),
      files => files.map(({ path }) => ({ kind: "write", path, bytes: Buffer.from(content) })),
    );
  await write("two", names);
  for (const name of names) await write("three", [name]);
  for (const name of ["granted", "both"]) expect(aclOf(join(base, name))).toBe(before);
  for (const name of ["both", "noted"]) expect(noteOf(join(base, name))).toBe("kept");
  expect(attributesOf(join(base, "plain"))).toBe("[]");
  rmSync(base, { recursive: true });
});
