import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyFilePatch } from "../../src/engine/edit/hunks.ts";
import type { FilePatch } from "../../src/engine/edit/notation/file-patch.ts";
import { createdContent, parsePatch } from "../../src/engine/edit/patch.ts";
import { Fault, type FaultCode, type Faults } from "../../src/engine/fault.ts";
import { unifiedDiff } from "../../src/engine/text/diff.ts";
import { decode } from "../../src/engine/text/text.ts";

const one = (patch: string): FilePatch => {
  const [file, ...rest] = parsePatch(patch);
  if (file === undefined || rest.length > 0) throw new Error(`expected one file, got ${rest.length + 1}`);
  return file;
};
const patchedBy = async (file: FilePatch, content: string | Buffer): Promise<string> =>
  applyFilePatch(await decode("f", Buffer.from(content)), file).text.bytes.toString();
const patched = async (content: string | Buffer, patch: string): Promise<string> =>
  patchedBy(one(patch), content);
const hunk = (...lines: string[]) => ["--- a/f", "+++ b/f", ...lines, ""].join("\n");
const envelope = (...lines: string[]) =>
  ["*** Begin Patch", "*** Update File: f", ...lines, "*** End Patch"].join("\n");
const refusal = async <C extends FaultCode>(code: C, run: () => unknown): Promise<Faults[C]> => {
  try {
    await run();
  } catch (error) {
    if (Fault.is(error, code)) return error.data;
    throw error;
  }
  throw new Error(`expected ${code}`);
};
const ten = Array.from({ length: 10 }, (_, i) => `line ${i + 1}\n`).join("");

describe("a patch that came with CRLF", () => {
  const crlf = (patch: string) => patch.replaceAll("\n", "\r\n");
  const blob = (content: string) =>
    createHash("sha1")
      .update(`blob ${Buffer.byteLength(content)}\0${content}`)
      .digest("hex");
  const prepending = (content: string) =>
    `diff --git a/f b/f\nindex ${blob(content)}..${"0".repeat(40)} 100644\n${hunk("@@ -0,0 +1,2 @@", "+new", "+lines")}`;

  it("puts no bare line feed into a CRLF file, wherever it adds lines", async () => {
    const file = "a\r\nb\r\nc\r\n";
    expect(await patched(file, crlf(prepending(file)))).toBe(`new\r\nlines\r\n${file}`);
    expect(await patched(file, crlf(hunk("@@ -1,1 +1,2 @@", "+new", " a")))).toBe(`new\r\n${file}`);
    expect(await patched(file, crlf(hunk("@@ -3,1 +3,2 @@", " c", "+new")))).toBe(`${file}new\r\n`);
    expect(await patched(file, crlf(envelope("@@", "+new", " a")))).toBe(`new\r\n${file}`);
    expect(await patched("", crlf(hunk("@@ -0,0 +1,2 @@", "+new", "+lines")))).toBe("new\r\nlines\r\n");
  });

  it("keeps the endings of a file with LF", async () => {
    const file = "a\nb\n";
    expect(await patched(file, crlf(prepending(file)))).toBe(`new\nlines\n${file}`);
  });

  it("creates a file with its own endings, or with LF where the caller wants that", () => {
    for (const patch of [
      "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n",
      "*** Begin Patch\n*** Add File: f\n+a\n+b\n*** End Patch\n",
    ]) {
      expect(createdContent(one(crlf(patch)), "patch")).toBe("a\r\nb\r\n");
      expect(createdContent(one(crlf(patch)))).toBe("a\nb\n");
      expect(createdContent(one(patch), "patch")).toBe("a\nb\n");
    }
  });
});

describe("a patch that deletes a file", () => {
  it("says which lines it leaves, where it does not remove all of them", async () => {
    const patch = "--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n";
    expect(await refusal("patch_conflict", () => patched("a\nb\nc\nd\n", patch))).toEqual({
      path: "f",
      hunk: 1,
      reason: "lines_left",
      current: [
        { line: 3, text: "c" },
        { line: 4, text: "d" },
      ],
    });
    expect(await patched("a\nb\n", patch)).toBe("");
  });
});

describe("a unified diff", () => {
  it("of many lines finds its place, or none, in a file of many repeated lines", async () => {
    const context = Array.from({ length: 20_000 }, () => " a");
    const header = `@@ -5,${context.length + 2} +5,${context.length + 2} @@`;
    const same = "a\n".repeat(300_000);
    const patch = hunk(header, ...context, "-b", "+c", " a");
    await refusal("patch_conflict", () => patched(same, patch));
    expect(await patched(`${same}b\na\n`, patch)).toBe(`${same}c\na\n`);
  });

  it("is read in all the shapes that git and diff give it", () => {
    const patch = [
      "From 1234 Mon Sep 17 00:00:00 2001",
      "Subject: things",
      "---",
      " 3 files changed",
      "",
      "diff --git a/old name.txt b/new name.txt",
      "similarity index 100%",
      "rename from old name.txt",
      "rename to new name.txt",
      "diff --git a/run.sh b/run.sh",
      "old mode 100644",
      "new mode 100755",
      'diff --git "a/\\303\\251 \\"x\\".txt" "b/\\303\\251 \\"x\\".txt"',
      "new file mode 100644",
      "index 0000000..1111111",
      "--- /dev/null",
      '+++ "b/\\303\\251 \\"x\\".txt"',
      "@@ -0,0 +1 @@",
      "+hi",
      "\\ No newline at end of file",
      "diff --git a/empty b/empty",
      "deleted file mode 100644",
      "index e69de29..0000000",
      "diff --git a/src b/copied",
      "similarity index 90%",
      "copy from src",
      "copy to copied",
      "index 1111111..2222222 100644",
      "--- a/src",
      "+++ b/copied",
      "@@ -1 +1 @@",
      "-a",
      "+b",
      "--- plain.c\t2024-01-01 10:00:00.000000000 +0100",
      "+++ plain.c\t2024-01-02 10:00:00.000000000 +0100",
      "@@ -1 +1 @@ int main()",
      "--- x",
      "+++ y",
      "-- ",
      "2.39.5",
      "",
    ].join("\n");
    expect(
      parsePatch(patch).map(({ kind, path, to, executable, added, removed }) => [
        kind,
        path,
        to,
        executable,
        added,
        removed,
      ]),
    ).toEqual([
      ["rename", "old name.txt", "new name.txt", undefined, 0, 0],
      ["modify", "run.sh", undefined, true, 0, 0],
      ["create", 'é "x".txt', undefined, false, 1, 0],
      ["delete", "empty", undefined, undefined, 0, 0],
      ["copy", "src", "copied", undefined, 1, 1],
      ["modify", "plain.c", undefined, undefined, 1, 1],
    ]);
  });

  it("creates, deletes and renames by its names alone", () => {
    const created = one("--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+a\n+b\n");
    expect(created).toMatchObject({ kind: "create", path: "n" });
    expect(createdContent(created)).toBe("a\nb\n");
    expect(one("--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n")).toMatchObject({ kind: "delete", path: "n" });
    expect(one("--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n")).toMatchObject({
      kind: "rename",
      path: "x",
      to: "y",
    });
    expect(one("--- a/x\n+++ b/y\n")).toMatchObject({ kind: "rename", path: "x", to: "y", hunks: [] });
    expect(one("--- x/a\n+++ x/a\n@@ -1 +1 @@\n-a\n+b\n")).toMatchObject({ kind: "modify", path: "x/a" });
  });

  it("is refused with the number of its malformed line, or if it is not a text patch", async () => {
    const cases: [string, number][] = [
      ["", 1],
      ["just words\n", 1],
      ["@@ -1 +1 @@\n-a\n+b\n", 1],
      [hunk("@@ -1,2 +1,2 @@", "-a", "+b"), 5],
      [hunk("@@ -1 +1 @@", "-a", "+b", "+c"), 6],
      [hunk("@@ -1,3 +1,3 @@", " a", "*bold*", " c"), 5],
      [hunk("@@ @@", "-a", "+b"), 3],
      [hunk("@@ -1 +1 @@", " a"), 3],
      ["diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 1\n", 3],
      ["diff --git a/x b/x\nBinary files a/x and b/x differ\n", 2],
      ["diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+t\n", 2],
      ["--- /dev/null\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", 1],
      ["diff --git a/x b/x\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", 2],
      ["diff --git a/x b/x\n--- a/y\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", 2],
    ];
    for (const [patch, line] of cases)
      expect((await refusal("malformed_patch", () => parsePatch(patch))).line, patch).toBe(line);
    const twice = hunk("@@ -1 +1 @@", "-a", "+b") + hunk("@@ -2 +2 @@", "-a", "+b");
    expect((await refusal("duplicate_path", () => parsePatch(twice))).path).toBe("f");
  });

  it("applies at its own line number although the hunk before it has moved", async () => {
    const moved = ["@@ -2,3 +2,3 @@", " line 1", "-line 2", "+two", " line 3"] as const;
    const unended = [" line 6", "-line 7", "+seven"] as const;
    const expected = ten.replace("line 2", "two").replace("line 7", "seven");
    expect(await patched(ten, hunk(...moved, "@@ -6,2 +6,2 @@", ...unended))).toBe(expected);
    const elsewhere = () => patched(ten, hunk(...moved, "@@ -5,2 +5,2 @@", ...unended));
    expect(await refusal("patch_conflict", elsewhere)).toMatchObject({
      hunk: 2,
      reason: "no_match",
      why: "not_at_end",
    });
  });

  it("is refused where a line without a line break would run into the next one", async () => {
    const mark = "\\ No newline at end of file";
    for (const lines of [
      ["@@ -2 +2 @@", "-line 2", "+two", mark],
      ["@@ -2 +2,2 @@", " line 2", "+more", mark],
    ])
      expect(await refusal("patch_conflict", () => patched(ten, hunk(...lines)))).toMatchObject({
        reason: "no_match",
        endsWithBreak: true,
        current: [{ line: 2, text: "line 2" }],
      });
    const below = hunk("@@ -9,2 +9,2 @@", "-line 9", "+nine", mark, " line 10");
    expect(await refusal("malformed_patch", () => parsePatch(below))).toEqual({
      line: 6,
      problem: "misplaced_no_newline",
    });
    expect(await patched(ten, hunk("@@ -10 +10 @@", "-line 10", "+ten", mark))).toBe(
      ten.replace("line 10\n", "ten"),
    );
  });

  it("is refused inside a file where it only adds lines, and says that no line shows its place", async () => {
    const added = hunk("@@ -3,0 +4 @@", "+new");
    expect(await refusal("patch_conflict", () => patched(ten, added))).toMatchObject({ why: "only_added" });
    const atEnd = hunk("@@ -10,0 +11 @@", "+new");
    expect(await patched(ten, atEnd)).toBe(`${ten}new\n`);
  });

  it("is refused where only the line break at the end differs, and says which of the two has it", async () => {
    const mark = "\\ No newline at end of file";
    const without = hunk("@@ -9,2 +9,2 @@", " line 9", "-line 10", mark, "+ten");
    expect(await refusal("patch_conflict", () => patched(ten, without))).toMatchObject({
      reason: "no_match",
      endsWithBreak: true,
    });
    const having = hunk("@@ -9,2 +9,2 @@", " line 9", "-line 10", "+ten");
    expect(await refusal("patch_conflict", () => patched(ten.trimEnd(), having))).toMatchObject({
      endsWithBreak: false,
    });
    const neither = await refusal("patch_conflict", () => patched(ten.replace("line 9", "other"), without));
    expect(neither.endsWithBreak).toBeUndefined();
  });

  it("has no place if its line number names one, and its missing trailing context the end of the file", async () => {
    const added = hunk("@@ -2 +2,2 @@", " }", "+next");
    expect(await patched("x\n}\nz\n", added)).toBe("x\n}\nnext\nz\n");
    expect(await patched("x\n}\n", added)).toBe("x\n}\nnext\n");
    const either = await refusal("patch_conflict", () => patched("x\n}\nz\n}\n", added));
    expect(either).toMatchObject({ hunk: 1, reason: "ambiguous" });
  });

  it("finds its place when lines have moved, if there is only one", async () => {
    const patch = hunk("@@ -5,3 +5,3 @@", " line 5", "-line 6", "+six", " line 7");
    expect(await patched(`x\ny\n${ten}`, patch)).toBe(`x\ny\n${ten.replace("line 6", "six")}`);
    const twice = await refusal("patch_conflict", () => patched(`0\n${ten}${ten}`, patch));
    expect(twice).toMatchObject({ hunk: 1, reason: "ambiguous" });
    const gone = await refusal("patch_conflict", () => patched(ten.replace("line 6", "line VI"), patch));
    expect(gone).toMatchObject({
      reason: "no_match",
      current: [
        { line: 5, text: "line 5" },
        { line: 6, text: "line VI" },
        { line: 7, text: "line 7" },
      ],
    });
  });

  it("shows the place with most of its lines where it does not apply, whatever its line number", async () => {
    const lines = Array.from({ length: 90 }, (_, i) =>
      i % 3 === 0 ? `call(${i})` : i % 3 === 1 ? "end of it" : "",
    );
    const file = `${lines.join("\n")}\n`;
    const shownFor = async (...old: string[]) => {
      const kept = old.filter(line => line.startsWith(" ")).length;
      const patch = hunk(`@@ -10,${old.length} +10,${kept + 1} @@`, ...old, "+new");
      const { current } = await refusal("patch_conflict", () => patched(file, patch));
      return current[0]?.line;
    };
    expect(await shownFor(" call(60)", " end of it", "-changed", " call(63)")).toBe(61);
    // Of places with the same lines, the nearest to the line number; that place itself where little is left of the hunk.
    expect(await shownFor(" end of it", "-old")).toBe(11);
    expect(await shownFor(" call(60)", "-something else entirely", "-and more of it")).toBe(10);
    expect(await shownFor("-nothing of it")).toBe(10);
  });

  it("is refused for its counts where these make the header of the next file a part of the hunk", async () => {
    const next = ["--- a/g", "+++ b/g", "@@ -1 +1 @@", "-x", "+y"];
    const patch = (counts: string) =>
      hunk(`@@ ${counts} @@`, " line 5", "-line 6", "+six", " line 7", ...next);
    for (const counts of ["-5,4 +5,4", "-5,4 +5,3", "-5,3 +5,4", "-5,5 +5,5"]) {
      const malformed = () => Promise.all(parsePatch(patch(counts)).map(file => patchedBy(file, ten)));
      const { problem, line } = await refusal("malformed_patch", malformed);
      expect([counts, /^hunk_(too_short|counts)$/.test(problem), line >= 8 && line <= 10]).toEqual([
        counts,
        true,
        true,
      ]);
    }
    // The same lines are applied where the file has them.
    const odd = "line 5\nline 6\nline 7\n-- a/g\nline 8\n";
    const two = hunk(
      "@@ -1,4 +1,4 @@",
      " line 5",
      "-line 6",
      "+six",
      " line 7",
      "--- a/g",
      "+++ b/g",
      "@@ -5 +5 @@",
      "-line 8",
      "+8",
    );
    expect(await patched(odd, two)).toBe("line 5\nsix\nline 7\n++ b/g\n8\n");
  });

  it("takes the named place even if the same lines occur elsewhere", async () => {
    expect(await patched("a\nb\na\nb\n", hunk("@@ -3,2 +3,2 @@", "-a", "+A", " b"))).toBe("a\nb\nA\nb\n");
  });

  it("without context applies where it says or not at all", async () => {
    expect(await patched(ten, hunk("@@ -2 +2 @@", "-line 2", "+two"))).toBe(ten.replace("line 2", "two"));
    await refusal("patch_conflict", () => patched(`x\n${ten}`, hunk("@@ -2 +2 @@", "-line 2", "+two")));
    await refusal("patch_conflict", () => patched(ten, hunk("@@ -2,0 +3 @@", "+x")));
    expect(await patched(ten, hunk("@@ -10,0 +11 @@", "+x"))).toBe(`${ten}x\n`);
  });

  it("keeps line endings and mark of a file whose endings it does not show", async () => {
    const crlf = `\ufeff${ten.replaceAll("\n", "\r\n")}`;
    const patch = hunk("@@ -1,3 +1,4 @@", "-line 1", "+one", "+more", " line 2", " line 3");
    expect(await patched(crlf, patch)).toBe(crlf.replace("line 1", "one\r\nmore"));
    expect(await patched(ten, patch.replaceAll("\n", "\r\n"))).toBe(ten.replace("line 1", "one\nmore"));
    expect(await patched("a\r\nb\r\n", hunk("@@ -1,2 +1,2 @@", "-a\r", "+a", " b\r"))).toBe("a\nb\r\n");
    expect(await patched("\ufeffa\n", hunk("@@ -1 +1 @@", "-\ufeffa", "+a"))).toBe("a\n");
  });

  it("of git that puts a line on top puts it before a byte-order mark, as git does", async () => {
    const hash = createHash("sha1").update("blob 5\0\ufeffa\n").digest("hex");
    const patch = `diff --git a/f b/f\nindex ${hash}..0000000 100644\n${hunk("@@ -0,0 +1 @@", "+new")}`;
    expect(await patched("\ufeffa\n", patch)).toBe("new\n\ufeffa\n");
  });

  it("keeps track of whether a file ends with a line break", async () => {
    const mark = "\\ No newline at end of file";
    expect(await patched("a\nb", hunk("@@ -1,2 +1,2 @@", " a", "-b", mark, "+c"))).toBe("a\nc\n");
    expect(await patched("a\nb\n", hunk("@@ -1,2 +1,2 @@", " a", "-b", "+b", mark))).toBe("a\nb");
    await refusal("patch_conflict", () => patched("a\nb", hunk("@@ -1,2 +1,2 @@", " a", "-b", "+c")));
  });

  it("deletes only a file whose lines it lists", async () => {
    const patch = "--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n";
    expect(await patched("a\nb\n", patch)).toBe("");
    await refusal("patch_conflict", () => patched("a\nb\nc\n", patch));
    await refusal("patch_conflict", () =>
      patched("a\n", "diff --git a/f b/f\ndeleted file mode 100644\nindex e69de29..0000000\n"),
    );
  });

  it("that we print applies to give the other text", async () => {
    const line = fc.constantFrom("a\n", "b\n", "c\n", "\n", "a\r\n", "\ufeffb\n", "--- x\n", "\\ y\n");
    const text = fc
      .tuple(fc.array(line, { maxLength: 25 }), fc.constantFrom("", "a", "z"))
      .map(([l, end]) => l.join("") + end);
    await fc.assert(
      fc.asyncProperty(text, text, fc.integer({ min: 1, max: 4 }), async (before, after, context) => {
        const diff = unifiedDiff(before, after, { from: "a/f", to: "b/f", context });
        fc.pre(diff !== "");
        expect(await patched(before, diff)).toBe(after);
      }),
      { numRuns: 800 },
    );
  });
});

describe("a patch envelope", () => {
  it("adds, updates, moves and deletes", () => {
    const patch = `*** Begin Patch
*** Add File: new.txt
+one
+
+two
*** Update File: a.txt
*** Move to: b.txt
*** Update File: c.txt
@@ class A
@@   run() {
 x
-y
+z

*** Delete File: d.txt
*** End Patch
`;
    const files = parsePatch(patch);
    expect(files.map(({ kind, path, to, added, removed }) => [kind, path, to, added, removed])).toEqual([
      ["create", "new.txt", undefined, 3, 0],
      ["rename", "a.txt", "b.txt", 0, 0],
      ["modify", "c.txt", undefined, 1, 1],
      ["delete", "d.txt", undefined, 0, 0],
    ]);
    expect(files[0] && createdContent(files[0])).toBe("one\n\ntwo\n");
    expect(files[2]?.hunks[0]?.anchors).toEqual(["class A", "  run() {"]);
  });

  it("is refused with the line where it is malformed", async () => {
    const cases: [string, number][] = [
      ["*** Begin Patch\n*** Update File: f\n-a\n+b\n", 6],
      ["*** Begin Patch\n*** End Patch\n", 1],
      ["*** Begin Patch\nhello\n*** End Patch", 2],
      ["*** Begin Patch\n*** Add File: f\nhello\n*** End Patch", 3],
      [envelope("@@", "-a", "oops"), 5],
      [envelope("@@", " a"), 4],
      [envelope(), 2],
    ];
    for (const [patch, line] of cases)
      expect((await refusal("malformed_patch", () => parsePatch(patch))).line, patch).toBe(line);
  });

  it("finds its place by context, and is refused where two fit", async () => {
    expect(await patched("a\nb\nc\n", envelope("@@", " a", "-b", "+B"))).toBe("a\nB\nc\n");
    expect(await patched("a  \r\nb\r\nc\r\n", envelope("@@", " a", "-b", "+B", "+BB"))).toBe(
      "a  \r\nB\r\nBB\r\nc\r\n",
    );
    expect(
      await refusal("patch_conflict", () => patched("a\nb\na\nb\n", envelope("@@", " a", "-b", "+B"))),
    ).toMatchObject({ reason: "ambiguous" });
    expect(
      await refusal("patch_conflict", () => patched("a\nb\n", envelope("@@", " a", "-x", "+B"))),
    ).toMatchObject({ reason: "no_match", hunk: 1 });
  });

  it("uses anchors and the end of the file to distinguish places", async () => {
    const file = "def f():\n  x = 1\n  return\ndef g():\n  x = 1\n  return\n";
    expect(await patched(file, envelope("@@ def g():", "-  x = 1", "+  x = 2"))).toBe(
      "def f():\n  x = 1\n  return\ndef g():\n  x = 2\n  return\n",
    );
    expect(await patched(file, envelope("@@", "   x = 1", "-  return", "+  pass", "*** End of File"))).toBe(
      `${file.slice(0, -9)}  pass\n`,
    );
    expect(await patched(file, envelope("@@ def f():", "+  # new"))).toBe(
      file.replace("def f():\n", "def f():\n  # new\n"),
    );
    expect(await patched(file, envelope("@@ def f():", "-  x = 1", "+  y", "@@", "-  x = 1", "+  z"))).toBe(
      "def f():\n  y\n  return\ndef g():\n  z\n  return\n",
    );
  });

  it("takes part of a line as an anchor, and the numbers of a unified diff as none", async () => {
    const file = "int f(int a) {\n  x = 1;\n}\nint g(int b) {\n  x = 1;\n}\n";
    const expected = "int f(int a) {\n  x = 1;\n}\nint g(int b) {\n  x = 2;\n}\n";
    for (const anchor of ["@@ int g", "@@ -4,3 +4,3 @@ int g(", "@@ g(int b)"])
      expect(await patched(file, envelope(anchor, "-  x = 1;", "+  x = 2;")), anchor).toBe(expected);
    expect(
      await patched(file, envelope("@@ -2,2 +2,2 @@", " int g(int b) {", "-  x = 1;", "+  x = 2;")),
    ).toBe(expected);
    expect(
      await refusal("patch_conflict", () => patched(file, envelope("@@ int", "-  x = 1;", "+  x = 2;"))),
    ).toMatchObject({ reason: "ambiguous" });
    expect(
      await refusal("patch_conflict", () => patched(file, envelope("@@ int h", "-  x = 1;", "+  x = 2;"))),
    ).toMatchObject({ reason: "no_match", why: "no_anchor" });
  });

  it("leaves the end of a file as it was", async () => {
    expect(await patched("a\nb", envelope("@@", " a", "-b", "+c", "+d"))).toBe("a\nc\nd");
    expect(await patched("a\nb", envelope("@@", " b", "+c"))).toBe("a\nb\nc");
    expect(await patched("a\nb\n", envelope("@@", "+c"))).toBe("a\nb\nc\n");
    expect(await patched("a\nb", envelope("@@", " a", "-b"))).toBe("a\n");
  });
});
