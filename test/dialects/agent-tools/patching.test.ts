// `apply_patch` of the `agent-tools` contract, sentence by sentence, and what a hostile patch may not do.
import { chmodSync, linkSync, readdirSync, statSync, symlinkSync, truncateSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Fixture, type Server } from "./fixture.ts";

let fixture: Fixture;
let server: Server;

beforeAll(async () => {
  fixture = new Fixture();
  server = await fixture.serve();
});
beforeEach(() => {
  fixture.reset({
    "a.txt": "one\ntwo\nthree\n",
    "b.txt": "alpha\nbeta\n",
    "c.txt": "gone\n",
    "crlf.txt": "one\r\ntwo\r\nthree\r\n",
    "mark.txt": "\ufeffone\ntwo\n",
    "tail.txt": "one\ntwo",
    "bin.dat": "x\0y",
    "utf16.txt": Buffer.from("\ufeffone\n", "utf16le"),
    "dir/inner.txt": "inner\n",
  });
});
afterAll(() => fixture[Symbol.asyncDispose]());

const apply = (...blocks: string[]) => server.says("apply_patch", { patch: blocks.join("") });
const refused = (...blocks: string[]) => server.refuses("apply_patch", { patch: blocks.join("") });

const modify = (path: string, hunk: string) => `--- a/${path}\n+++ b/${path}\n${hunk}`;
const create = (path: string, line = "new") => `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+${line}\n`;
const remove = (path: string, line: string) => `--- a/${path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-${line}\n`;
const rename = (from: string, to: string) =>
  `diff --git a/${from} b/${to}\nsimilarity index 100%\nrename from ${from}\nrename to ${to}\n`;
const two = "@@ -1,3 +1,4 @@\n one\n-two\n+TWO\n+2\n three\n";

/** Everything in the workspace, as names and contents. */
function everything(): Record<string, string> {
  const names = readdirSync(fixture.root, { recursive: true, encoding: "utf8" });
  const files = names.filter(name => statSync(fixture.path(name), { throwIfNoEntry: false })?.isFile());
  return Object.fromEntries(files.map(name => [name, fixture.bytes(name).toString("latin1")]));
}

describe("apply_patch", () => {
  it("modifies, creates, deletes and renames in one call, and says so line by line", async () => {
    expect(
      await apply(
        modify("a.txt", two),
        create("new/deep/f.txt"),
        remove("c.txt", "gone"),
        rename("b.txt", "moved.txt"),
      ),
    ).toBe(
      ["Applied patch:", "M a.txt (+2 -1)", "A new/deep/f.txt", "D c.txt", "R b.txt -> moved.txt"].join("\n"),
    );
    expect(fixture.read("a.txt")).toBe("one\nTWO\n2\nthree\n");
    expect(fixture.read("new/deep/f.txt")).toBe("new\n");
    expect(fixture.has("c.txt")).toBe(false);
    expect([fixture.has("b.txt"), fixture.read("moved.txt")]).toEqual([false, "alpha\nbeta\n"]);
  });

  it("takes paths without prefixes, and absolute ones inside the workspace", async () => {
    expect(await apply(`--- a.txt\n+++ a.txt\n${two}`)).toContain("M a.txt (+2 -1)");
    const b = fixture.path("b.txt");
    expect(await apply(`--- ${b}\n+++ ${b}\n@@ -1,2 +1 @@\n-alpha\n beta\n`)).toContain("M b.txt (+0 -1)");
    expect(fixture.read("b.txt")).toBe("beta\n");
  });

  it("moves and edits in one step where paths differ", async () => {
    expect(await apply(`--- a/a.txt\n+++ b/sub/z.txt\n${two}`)).toBe("Applied patch:\nR a.txt -> sub/z.txt");
    expect(fixture.has("a.txt")).toBe(false);
    expect(fixture.read("sub/z.txt")).toBe("one\nTWO\n2\nthree\n");
  });

  it("moves the exact bytes without hunks, whatever they are", async () => {
    chmodSync(fixture.path("bin.dat"), 0o640);
    expect(await apply(rename("bin.dat", "data/bin.dat"))).toContain("R bin.dat -> data/bin.dat");
    expect(fixture.bytes("data/bin.dat")).toEqual(Buffer.from("x\0y"));
    expect(statSync(fixture.path("data/bin.dat")).mode & 0o777).toBe(0o640);
  });

  it("keeps line endings, byte-order mark, mode and a missing final newline of what it modifies", async () => {
    chmodSync(fixture.path("crlf.txt"), 0o750);
    await apply(
      modify("crlf.txt", two),
      modify("mark.txt", "@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n"),
      modify("tail.txt", "@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n\\ No newline at end of file\n"),
    );
    expect(fixture.read("crlf.txt")).toBe("one\r\nTWO\r\n2\r\nthree\r\n");
    expect(fixture.read("mark.txt")).toBe("\ufeffone\nTWO\n");
    expect(fixture.read("tail.txt")).toBe("ONE\ntwo");
    expect(statSync(fixture.path("crlf.txt")).mode & 0o777).toBe(0o750);
  });

  it("makes a file executable where the patch says so", async () => {
    await apply("diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n");
    expect(statSync(fixture.path("a.txt")).mode & 0o111).not.toBe(0);
    await apply(
      "diff --git a/a.txt b/run.sh\nold mode 100755\nnew mode 100644\nsimilarity index 100%\nrename from a.txt\nrename to run.sh\n",
      "diff --git a/x.sh b/x.sh\nnew file mode 100755\n--- /dev/null\n+++ b/x.sh\n@@ -0,0 +1 @@\n+x\n",
    );
    expect(statSync(fixture.path("run.sh")).mode & 0o111).toBe(0);
    expect(statSync(fixture.path("x.sh")).mode & 0o111).not.toBe(0);
    expect(fixture.has("a.txt")).toBe(false);
  });

  it("finds a hunk whose lines have moved, but refuses two places", async () => {
    fixture.write("a.txt", "zero\nzero\none\ntwo\nthree\n");
    expect(await apply(modify("a.txt", "@@ -12,3 +12,3 @@\n one\n-two\n+TWO\n three\n"))).toContain(
      "M a.txt",
    );
    expect(fixture.read("a.txt")).toBe("zero\nzero\none\nTWO\nthree\n");
    fixture.write("a.txt", "x\none\ntwo\nthree\nx\none\ntwo\nthree\n");
    expect(await refused(modify("a.txt", "@@ -20,3 +20,3 @@\n one\n-two\n+TWO\n three\n"))).toMatchObject({
      error: "patch_failed",
      file: "a.txt",
      hunk: 1,
    });
  });

  it("takes the patch envelope too", async () => {
    const patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+TWO\n*** End Patch\n";
    expect(await apply(patch)).toBe("Applied patch:\nM a.txt (+1 -1)");
  });

  it("separates a rename without hunks from the plain block after it", async () => {
    fixture.write("b.txt", "one\ntwo\nthree\n");
    expect(await apply(rename("b.txt", "moved.txt"), modify("a.txt", two))).toBe(
      "Applied patch:\nR b.txt -> moved.txt\nM a.txt (+2 -1)",
    );
    expect(fixture.read("moved.txt")).toBe("one\ntwo\nthree\n");
  });

  it("refuses names that are not those of the header above them", async () => {
    fixture.write("b.txt", "one\ntwo\nthree\n");
    expect(await refused(`diff --git a/b.txt b/b.txt\n${modify("a.txt", two)}`)).toMatchObject({
      error: "invalid_input",
      message: "Malformed patch at line 2: the names are not those of the header above",
    });
  });

  it("reports other names of what it replaced", async () => {
    linkSync(fixture.path("a.txt"), fixture.path("other.txt"));
    expect(await apply(modify("a.txt", two))).toBe(
      "Applied patch:\nM a.txt (+2 -1)\nNote: 1 other hard link to the old file keeps the old content.",
    );
    expect(fixture.read("other.txt")).toBe("one\ntwo\nthree\n");
  });
});

describe("everything is as before where one block fails:", () => {
  const good = () => [modify("a.txt", two), create("new/f.txt"), remove("c.txt", "gone")];
  const bad: Record<string, readonly [block: string, envelope: object]> = {
    "a hunk that does not apply": [
      modify("b.txt", "@@ -1,2 +1,2 @@\n alpha\n-gamma\n+delta\n"),
      { error: "patch_failed", file: "b.txt", hunk: 1, message: expect.stringContaining("     2\tbeta") },
    ],
    "a second hunk that does not apply": [
      modify("b.txt", "@@ -1 +1 @@\n-alpha\n+ALPHA\n@@ -2 +2 @@\n-zeta\n+eta\n"),
      { error: "patch_failed", file: "b.txt", hunk: 2 },
    ],
    "a hunk that only adds lines inside a file": [
      modify("b.txt", "@@ -1,0 +2 @@\n+new\n"),
      { error: "patch_failed", message: expect.stringContaining("add the line above or below as context") },
    ],
    "a deleted file that holds something else": [
      remove("b.txt", "alpha"),
      { error: "patch_failed", file: "b.txt" },
    ],
    "creating an existing path": [
      create("b.txt"),
      { error: "invalid_input", message: "Path already exists: b.txt" },
    ],
    "renaming onto an existing destination": [
      rename("dir/inner.txt", "b.txt"),
      { error: "invalid_input", message: "Path already exists: b.txt" },
    ],
    "the same path twice": [modify("a.txt", two), { error: "invalid_input" }],
    "the same path twice in other words": [create("dir/../new/f.txt"), { error: "invalid_input" }],
    "a missing file": [modify("nope.txt", two), { error: "not_found", message: "No such file: nope.txt" }],
    "a file below a file": [create("b.txt/x"), { error: "not_a_file" }],
    "a directory": [modify("dir", two), { error: "not_a_file", message: "Path is a directory: dir" }],
    "a binary file": [modify("bin.dat", two), { error: "is_binary" }],
    "a UTF-16 file": [modify("utf16.txt", two), { error: "is_binary" }],
    "a path outside": [create("../x.txt"), { error: "path_escape" }],
    "a rename to outside": [rename("b.txt", "../b.txt"), { error: "path_escape" }],
    "a header without counts": [modify("b.txt", "@@ @@\n-alpha\n+x\n"), { error: "invalid_input" }],
    "a hunk that ends early": [modify("b.txt", "@@ -1,2 +1,2 @@\n-alpha\n"), { error: "invalid_input" }],
  };
  it.each(Object.entries(bad))("%s", async (_, [block, envelope]) => {
    const before = everything();
    expect(await refused(...good(), block)).toMatchObject(envelope);
    expect(await refused(block, ...good())).toMatchObject(envelope);
    expect(everything()).toEqual(before);
    expect(fixture.has("new")).toBe(false);
  });

  it("a file that is too large, and a link", async () => {
    fixture.write("large.txt", "");
    truncateSync(fixture.path("large.txt"), 20_000_001);
    symlinkSync("b.txt", fixture.path("link.txt"));
    const before = Object.keys(everything());
    expect(await refused(...good(), modify("large.txt", two))).toMatchObject({
      error: "too_large",
      path: "large.txt",
      size: 20_000_001,
      limit: 20_000_000,
    });
    for (const block of [
      modify("link.txt", "@@ -1 +1 @@\n-alpha\n+x\n"),
      remove("link.txt", "alpha"),
      rename("link.txt", "other.txt"),
    ]) {
      expect(await refused(...good(), block)).toMatchObject({ error: "invalid_input" });
    }
    expect(Object.keys(everything())).toEqual(before);
  });

  it("a text that is not a patch", async () => {
    for (const patch of ["", "hello\n", "@@ -1 +1 @@\n-a\n+b\n", "GIT binary patch\n"]) {
      expect(await server.refuses("apply_patch", { patch })).toMatchObject({ error: "invalid_input" });
    }
    expect(await server.refuses("apply_patch", {})).toMatchObject({ error: "invalid_input" });
  });
});
