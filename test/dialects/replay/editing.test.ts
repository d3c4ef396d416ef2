// `edit_file` by the `replay` contract, over the wire: each mode of the matching strategy with what it matches, what
// it refuses, and that a refusal leaves the bytes of the file alone.
import { chmodSync, lstatSync, statSync, symlinkSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Fixture, notAllowed } from "./fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.open();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(() => fixture.reset({}));

interface Edit {
  oldText?: unknown;
  newText?: string;
  limit?: number;
  isRegex?: boolean;
  caseInsensitive?: boolean;
}

/** What becomes of a file with this content. */
async function edited(content: string | Uint8Array, ...edits: Edit[]): Promise<string> {
  fixture.write("f", content);
  expect(await fixture.says("edit_file", { path: fixture.path("f"), edits })).toBe(
    `Successfully edited ${fixture.path("f")}`,
  );
  return fixture.read("f");
}

/** The message of a refusal, after which the file is as it was. A dry run must say the same. */
async function refused(content: string | Uint8Array, ...edits: Edit[]): Promise<string> {
  fixture.write("f", content);
  const path = fixture.path("f");
  const before = statSync(path).mtimeMs;
  const error = await fixture.fails("edit_file", { path, edits });
  expect(error.code).toBe(-32603);
  expect(await fixture.fails("edit_file", { path, edits, dryRun: true })).toEqual(error);
  expect(fixture.bytes("f")).toEqual(Buffer.from(content));
  expect(statSync(path).mtimeMs).toBe(before);
  return error.message;
}

describe("a literal edit", () => {
  it("replaces the one place, verbatim", async () => {
    expect(await edited("a.b\nc\n", { oldText: "a.b", newText: "$1 \\1 $& $$" })).toBe("$1 \\1 $& $$\nc\n");
  });

  it("removes the text where there is no new one", async () => {
    expect(await edited("abc", { oldText: "b" })).toBe("ac");
  });

  it("is refused if the text is missing", async () => {
    expect(await refused("abc\n", { oldText: "abd", newText: "x" })).toBe("oldText not found: abd");
  });

  it("is refused if it occurs twice", async () => {
    expect(await refused("x\nx\n", { oldText: "x", newText: "y" })).toMatch(
      /^oldText is not unique: found 2 occurrences of "x"\. /,
    );
  });

  it("is refused where it is empty", async () => {
    expect(await refused("abc", { oldText: "", newText: "x" })).toBe("oldText must not be empty");
    expect(await refused("abc", { oldText: "", isRegex: true })).toBe("oldText must not be empty");
  });

  it("sees what the edits before it made", async () => {
    expect(await edited("a b\n", { oldText: "a", newText: "c" }, { oldText: "c b", newText: "done" })).toBe(
      "done\n",
    );
  });

  it("is all or nothing: if one edit fails, none is made", async () => {
    expect(await refused("a b\n", { oldText: "a", newText: "c" }, { oldText: "nope" })).toBe(
      "oldText not found: nope",
    );
  });
});

describe("a literal edit of several places", () => {
  it("replaces all with limit 0, and up to N with limit N", async () => {
    expect(await edited("x x x", { oldText: "x", newText: "y", limit: 0 })).toBe("y y y");
    expect(await edited("x x x", { oldText: "x", newText: "y", limit: 2 })).toBe("y y x");
    expect(await edited("x", { oldText: "x", newText: "y", limit: 5 })).toBe("y");
  });

  it("is refused where the text is missing, without tolerance for indentation", async () => {
    expect(await refused("  a\n  b\n", { oldText: "a\nb", limit: 0 })).toBe("oldText not found: a\nb");
    expect(await refused("  a\n  b\n", { oldText: "a\nb", limit: 2 })).toBe("oldText not found: a\nb");
  });
});

describe("the whitespace fallback", () => {
  const file = "class A {\n    if (x) {\n\n        y();\n    }\n}\n";

  it("finds a block that is indented otherwise, and indents the new one like it", async () => {
    const edit = { oldText: "if (x) {\n\n    y();\n}", newText: "  while (x) {\n\n      z();\n  }" };
    expect(await edited(file, edit)).toBe("class A {\n    while (x) {\n\n        z();\n    }\n}\n");
  });

  it("finds a block that is indented deeper in the call than in the file", async () => {
    const edit = { oldText: "\t\tif (x) {\n\n\t\t    y();\n\t\t}\n", newText: "gone;\n" };
    expect(await edited(file, edit)).toBe("class A {\n    gone;\n}\n");
  });

  it("neither loses nor doubles the last line break", async () => {
    expect(await edited("  a\n  b", { oldText: "a\nb\n", newText: "c\n" })).toBe("  c");
    expect(await edited("  a\n  b\n", { oldText: "a\nb", newText: "c" })).toBe("  c\n");
    expect(await edited("  a\n  b\n", { oldText: "a\nb\n", newText: "c\n" })).toBe("  c\n");
  });

  it("keeps CRLF in the block and around it", async () => {
    expect(await edited("x\r\n  a\r\n  b\r\ny\r\n", { oldText: "a\nb", newText: "c\nd" })).toBe(
      "x\r\n  c\r\n  d\r\ny\r\n",
    );
  });

  it("takes a long block that is indented much deeper", async () => {
    const lines = Array.from({ length: 200 }, (_, i) => `line ${i}`);
    const deep = lines.map(line => `${" ".repeat(16)}${line}\n`).join("");
    expect(await edited(deep, { oldText: lines.join("\n"), newText: "one" })).toBe(`${" ".repeat(16)}one\n`);
  });

  it("is refused where two blocks fit", async () => {
    expect(await refused("  a\n  b\n--\n\ta\n\tb\n", { oldText: "a\nb", newText: "c" })).toMatch(
      /^oldText is not unique: found 2 whitespace-normalized matches for the given block\. /,
    );
  });

  it("is refused where the text differs in more than that", async () => {
    expect(await refused("  a\n   b\n", { oldText: "a\nb", newText: "c" })).toBe("oldText not found: a\nb");
    expect(await refused("  a\n  b \n", { oldText: "a\nb", newText: "c" })).toBe("oldText not found: a\nb");
  });

  it("is not for case-insensitive edits", async () => {
    expect(await refused("  a\n  b\n", { oldText: "A\nB", caseInsensitive: true })).toBe(
      "oldText not found: A\nB",
    );
  });
});

describe("a case-insensitive literal edit", () => {
  it("finds the text whatever its case", async () => {
    expect(await edited("Hello ÄPFEL.*\n", { oldText: "äpfel.*", newText: "x", caseInsensitive: true })).toBe(
      "Hello x\n",
    );
    expect(await edited("a A a", { oldText: "A", newText: "b", caseInsensitive: true, limit: 0 })).toBe(
      "b b b",
    );
  });

  it("is refused if it occurs nowhere, or twice", async () => {
    expect(await refused("abc", { oldText: "X", caseInsensitive: true })).toBe("oldText not found: X");
    expect(await refused("x X", { oldText: "x", caseInsensitive: true })).toMatch(
      /^oldText is not unique: found 2 occurrences of "x"\. /,
    );
  });
});

describe("a regex edit", () => {
  const regex = (oldText: string, newText: string, more: Edit = {}): Edit => ({
    oldText,
    newText,
    isRegex: true,
    ...more,
  });

  it("replaces the first match, up to N, or all", async () => {
    expect(await edited("a1 a2 a3", regex("a\\d", "x"))).toBe("x a2 a3");
    expect(await edited("a1 a2 a3", regex("a\\d", "x", { limit: 2 }))).toBe("x x a3");
    expect(await edited("a1 a2 a3", regex("a\\d", "x", { limit: 0 }))).toBe("x x x");
  });

  it("has ^ and $ at every line, and a dot that stays in its line", async () => {
    expect(await edited("one\ntwo\n", regex("^(.*)$", "<$1>"))).toBe("<one>\ntwo\n");
    expect(await edited("one\n\ntwo\n", regex("^(.*)$", "<\\1>", { limit: 0 }))).toBe("<one>\n<>\n<two>\n");
    expect(await edited("one\ntwo", regex("^(.*)$", "<\\1>", { limit: 0 }))).toBe("<one>\n<two>");
    expect(await edited("a\nb\n", regex("a[\\s\\S]b", "ab"))).toBe("ab\n");
  });

  it("takes references in both styles", async () => {
    const groups = "(?<first>\\w)(\\d)(z)?";
    expect(await edited("a1", regex(groups, "\\2\\1|$2$1|\\0 $0 $&|$$|$3|\\3|"))).toBe("1a|1a|a1 a1 a1|$|||");
    expect(await edited("ab", regex("(a)(b)", "$12"))).toBe("a2");
    expect(await edited("ab", regex("ab", "\\t\\n\\\\ \\q $ $x"))).toBe("\t\n\\ \\q $ $x");
    expect(await edited("line\n", regex("(.*)", '"\\1"'))).toBe('"line"\n');
  });

  it("is JavaScript's: look-behind, lazy, back-references, case by flag", async () => {
    expect(await edited("xay bay", regex("(?<=b)a", "-"))).toBe("xay b-y");
    expect(await edited("<b>x</b><b>", regex("<(\\w)>.*?</\\1>", ""))).toBe("<b>");
    expect(await edited("ABC", regex("b", "-", { caseInsensitive: true }))).toBe("A-C");
  });

  it("is refused where nothing matches, whatever the limit", async () => {
    expect(await refused("abc", regex("x+", "y"))).toBe("pattern not found: x+");
    expect(await refused("abc", regex("x+", "y", { limit: 0 }))).toBe("pattern not found: x+");
    expect(await refused("a\n", regex("^$", "y", { limit: 0 }))).toBe("pattern not found: ^$");
  });

  it("is refused if it is invalid", async () => {
    expect(await refused("abc", regex("(", "y"))).toMatch(/^regex compile error: .+/);
  });

  it("is refused where a reference has no group, also without a match", async () => {
    for (const reference of ["\\1", "$1", "$2", "\\9"]) {
      expect(await refused("abc", regex(reference.endsWith("2") ? "(a)" : "a", reference))).toContain(
        `refers to ${reference}`,
      );
    }
    expect(await refused("abc", regex("nope", "$1"))).toContain("refers to $1");
    expect(await refused("abc", regex("(a)", "$2"))).toContain("no capture group 2: it has 1 capture group");
  });
});

describe("content outside an edit", () => {
  it("stays: line endings, also mixed ones", async () => {
    expect(await edited("a\r\nb\nc\r\n", { oldText: "b\nc", newText: "x\ny\nz" })).toBe("a\r\nx\ny\nz\r\n");
    expect(await edited("a\r\nb\r\n", { oldText: "^b$", newText: "c\\nd", isRegex: true })).toBe(
      "a\r\nc\r\nd\r\n",
    );
  });

  it("stays: the byte-order mark, UTF-16, a legacy encoding", async () => {
    expect(await edited("\ufeffone\n", { oldText: "^one", newText: "two", isRegex: true })).toBe(
      "\ufefftwo\n",
    );
    const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le");
    await edited(utf16("Grüße\r\n"), { oldText: "Grüße", newText: "日本" });
    expect(fixture.bytes("f")).toEqual(utf16("日本\r\n"));
    const latin1 = (text: string) => Buffer.from(text, "latin1");
    await edited(latin1("Stra\xdfe f\xfcr alle M\xe4nner\n"), { oldText: "für", newText: "für schöne" });
    expect(fixture.bytes("f")).toEqual(latin1("Stra\xdfe f\xfcr sch\xf6ne alle M\xe4nner\n"));
  });

  it("stays: the mode, and a link that leads to the file", async () => {
    fixture.write("f", "x\n");
    chmodSync(fixture.path("f"), 0o751);
    symlinkSync("f", fixture.path("link"));
    const edits = [{ oldText: "x", newText: "y" }];
    expect(await fixture.says("edit_file", { path: fixture.path("link"), edits })).toBe(
      `Successfully edited ${fixture.path("f")}`,
    );
    expect(fixture.read("f")).toBe("y\n");
    expect(statSync(fixture.path("f")).mode & 0o777).toBe(0o751);
    expect(lstatSync(fixture.path("link")).isSymbolicLink()).toBe(true);
  });
});

describe("a dry run", () => {
  it("answers a unified diff with three lines of context, and writes nothing", async () => {
    const path = fixture.path("f");
    fixture.write("f", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    expect(
      await fixture.says("edit_file", { path, edits: [{ oldText: "5", newText: "five" }], dryRun: true }),
    ).toBe(`--- ${path}\n+++ ${path}\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n`);
    expect(fixture.read("f")).toBe("1\n2\n3\n4\n5\n6\n7\n8\n9\n");
  });

  it("says if nothing would change", async () => {
    fixture.write("f", "a\n");
    const edits = [{ oldText: "a", newText: "a" }];
    expect(await fixture.says("edit_file", { path: fixture.path("f"), edits, dryRun: true })).toBe(
      "(no changes)",
    );
  });

  it("lists the planned edits if the file does not exist", async () => {
    const edits = [
      { oldText: "a", newText: "b" },
      { oldText: "x+", isRegex: true, limit: 0 },
    ];
    const said = await fixture.says("edit_file", { path: fixture.path("nope"), edits, dryRun: true });
    expect(said).toContain(fixture.path("nope"));
    expect(said).toContain('1. replace "a" with "b"');
    expect(said).toContain('2. replace /x+/ with "" (all)');
    expect(fixture.has("nope")).toBe(false);
  });
});

describe("edit_file reports errors by code", () => {
  it("about paths", async () => {
    const edits = [{ oldText: "a" }];
    const outside = `${fixture.outside}/x`;
    expect(await fixture.fails("edit_file", { path: outside, edits })).toEqual(notAllowed(outside));
    expect(await fixture.fails("edit_file", { path: outside, edits, dryRun: true })).toEqual(
      notAllowed(outside),
    );
    for (const path of [fixture.path("nope"), fixture.path("no/pe")]) {
      expect(await fixture.fails("edit_file", { path, edits })).toEqual({
        code: -32002,
        message: `File not found: ${path}`,
      });
    }
    expect(await fixture.fails("edit_file", { path: fixture.root, edits })).toMatchObject({ code: -32603 });
  });

  it("about parameters", async () => {
    fixture.write("f", "a");
    const path = fixture.path("f");
    const missing = async (params: object) => (await fixture.fails("edit_file", params)).message;
    expect(await missing({ path })).toBe("Missing required param: edits");
    expect(await missing({ path, edits: "x" })).toBe("Missing required param: edits");
    expect(await missing({ path, edits: [] })).toContain("Missing required param: edits");
    expect(await missing({ path, edits: [{ newText: "x" }] })).toBe(
      "Missing required param: edits[0].oldText",
    );
    expect(await missing({ path, edits: [{ oldText: "a" }], dryRun: "true" })).toContain("dryRun");
    expect(await fixture.fails("edit_file", { edits: [] })).toMatchObject({ code: -32602 });
    expect(fixture.read("f")).toBe("a");
  });
});

it("edits of one file that are sent at once are all made", async () => {
  const words = Array.from({ length: 20 }, (_, i) => `word${i}.`);
  fixture.write("f", words.join("\n"));
  await Promise.all(
    words.map(word =>
      fixture.says("edit_file", { path: fixture.path("f"), edits: [{ oldText: word, newText: `${word}!` }] }),
    ),
  );
  expect(fixture.read("f")).toBe(words.map(word => `${word}!`).join("\n"));
});
