// Edits: all kinds mixed in one call, all or none; a tolerant match is reported, what cannot be applied is refused with
// the current lines.
import { chmodSync, linkSync, lstatSync, readlinkSync, statSync, symlinkSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Fixture, type Server, versionIn } from "./fixture.ts";

let fixture: Fixture;
let server: Server;
beforeAll(async () => {
  fixture = new Fixture();
  server = await fixture.serve();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const code = "function one() {\n\treturn 1;\n}\n\nfunction two() {\n\treturn 2;\n}\n";
beforeEach(() => fixture.reset({ "a.ts": code }));

const edit = (edits: unknown[], more: Record<string, unknown> = {}) =>
  server.says("edit_file", { path: "a.ts", edits, ...more });
const refusal = (edits: unknown[], more: Record<string, unknown> = {}) =>
  server.refuses("edit_file", { path: "a.ts", edits, ...more });

describe("edit_file applies", () => {
  it("an exact, unique text, and answers a small diff with the new version", async () => {
    const said = await edit([{ old: "return 1;", new: "return 11;" }]);
    expect(said).toMatch(
      /^edited a\.ts · \+1 -1 · v:\w{12}\nchange \w+ \(undo reverts it\)\n@@ -1,4 \+1,4 @@\n function one\(\) \{\n-\treturn 1;\n\+\treturn 11;\n \}\n $/,
    );
    expect(fixture.read("a.ts")).toBe(code.replace("return 1;", "return 11;"));
    expect(await server.version("a.ts")).toBe(versionIn(said));
  });

  it("every occurrence, with or without case", async () => {
    await edit([{ old: "RETURN", new: "yield", all: true, ignore_case: true }]);
    expect(fixture.read("a.ts")).toBe(code.replaceAll("return", "yield"));
  });

  it("a regular expression with groups; without `regex` a dollar sign is literal", async () => {
    await edit([
      { old: "function (?<name>\\w+)\\(\\)", new: `const $\{name} = $1 => $$`, regex: true, all: true },
    ]);
    expect(fixture.read("a.ts")).toContain("const one = one => $ {");
    fixture.reset({ "a.ts": code });
    await edit([{ old: "return 1", new: "$1 $& $$" }]);
    expect(fixture.read("a.ts")).toContain("\t$1 $& $$;");
  });

  it("^ and $ of an expression at every line", async () => {
    await edit([{ old: "^}$", new: "};", regex: true, all: true }]);
    expect(fixture.read("a.ts")).toBe(code.replaceAll("}\n", "};\n"));
  });

  it("lines by number, with or without a final line break, and deletes lines by an empty text", async () => {
    await edit([{ start_line: 1, end_line: 3, new: "// gone" }]);
    expect(fixture.read("a.ts")).toBe("// gone\n\nfunction two() {\n\treturn 2;\n}\n");
    await edit([{ start_line: 1, end_line: 2, new: "" }]);
    expect(fixture.read("a.ts")).toBe("function two() {\n\treturn 2;\n}\n");
  });

  it("insertions at the top, behind a line and at the end", async () => {
    await edit([
      { insert_after: 0, new: "top" },
      { insert_after: 3, new: "middle\n" },
      { insert_after: -1, new: "end" },
    ]);
    expect(fixture.read("a.ts")).toBe(`top\n${code.replace("}\n\n", "}\nmiddle\n\n")}end\n`);
  });

  it("all kinds in one call, by the numbers of the file as it was read", async () => {
    await edit([
      { insert_after: 0, new: "a\nb\nc" },
      { start_line: 2, end_line: 2, new: "\treturn one;" },
      { old: "return 2", new: "return two" },
      { old: "two\\(\\)", new: "zwei()", regex: true },
    ]);
    expect(fixture.read("a.ts")).toBe(
      "a\nb\nc\nfunction one() {\n\treturn one;\n}\n\nfunction zwei() {\n\treturn two;\n}\n",
    );
  });

  it("text that differs in indentation, re-indented to the place, and says so", async () => {
    const said = await edit([{ old: "    return 1;", new: "    if (x) {\n        return 3;\n    }" }]);
    expect(fixture.read("a.ts")).toContain("\tif (x) {\n\t\treturn 3;\n\t}\n");
    expect(said).toContain("[edits[0]: no exact match; indentation differed; new was re-indented to match]");
  });

  it("text that differs in trailing whitespace, or in typographic characters", async () => {
    fixture.reset({ "a.ts": "one  \ntwo\nsay “hi” – now\n" });
    expect(await edit([{ old: "one\ntwo", new: "1\n2" }])).toContain("matched ignoring trailing whitespace");
    expect(await edit([{ old: 'say "hi" - now', new: "quiet" }])).toContain(
      "typographic quotes, dashes or spaces",
    );
    expect(fixture.read("a.ts")).toBe("1\n2\nquiet\n");
  });

  it("only exact matches for `all` and `regex`", async () => {
    for (const more of [{ all: true }, { regex: true }])
      expect((await refusal([{ old: "    return 1;", new: "x", ...more }]))[0]).toMatch(/^no_match: /);
    expect(fixture.read("a.ts")).toBe(code);
  });

  it("nothing in a dry run, which still shows the diff", async () => {
    const said = await edit([{ old: "return 1", new: "return 9" }], { dry_run: true });
    expect(said).toMatch(/^would edit a\.ts · \+1 -1 · v:\w+\n\[dry run: nothing was written\]\n@@/);
    expect(fixture.read("a.ts")).toBe(code);
  });

  it("an edit of a CRLF file and keeps every other line ending", async () => {
    fixture.write("a.ts", "one\r\ntwo\nthree\r\n");
    await edit([
      { old: "one\ntwo", new: "1\n2" },
      { insert_after: 3, new: "4" },
    ]);
    expect(fixture.read("a.ts")).toBe("1\r\n2\nthree\r\n4\r\n");
  });

  it("through a link to what it leads to, keeping the link, the mode and other bytes", async () => {
    symlinkSync("a.ts", fixture.path("link"));
    chmodSync(fixture.path("a.ts"), 0o755);
    await server.says("edit_file", { path: "link", edits: [{ old: "return 1", new: "return 7" }] });
    expect(readlinkSync(fixture.path("link"))).toBe("a.ts");
    expect(lstatSync(fixture.path("a.ts")).mode & 0o777).toBe(0o755);
    expect(fixture.read("a.ts")).toContain("return 7");
  });

  it("under one name of a hard-linked file, and says so; --hard-links keep changes all", async () => {
    linkSync(fixture.path("a.ts"), fixture.path("b.ts"));
    expect(await edit([{ old: "return 1", new: "return 7" }])).toContain(
      "[1 other hard link keeps the old content]",
    );
    expect(fixture.read("b.ts")).toBe(code);
    fixture.reset({ "a.ts": code });
    linkSync(fixture.path("a.ts"), fixture.path("b.ts"));
    const keeping = await fixture.serve({ args: ["--hard-links", "keep"] });
    const said = await keeping.says("edit_file", {
      path: "a.ts",
      edits: [{ old: "return 1", new: "return 8" }],
    });
    expect(said).toContain("[1 other hard link changed with it]");
    expect(fixture.read("b.ts")).toContain("return 8");
    expect(statSync(fixture.path("b.ts")).ino).toBe(statSync(fixture.path("a.ts")).ino);
  });

  it("what changed in long lines, wherever that is in them", async () => {
    const long = (word: string) => `${"x".repeat(4999)}😀${word} tail${"z".repeat(5000)}`;
    const lines = (word: string) => [long("first"), long("second"), long(word), long("last"), ""].join("\n");
    fixture.write("a.ts", lines("old"));
    const all = await edit([{ old: "old", new: "new" }]);
    const [, removed = "", added = ""] = /\n(-.*)\n(\+.*)\n/.exec(all) ?? [];
    expect(removed).toMatch(/^-\[…4,9\d\d characters\] x+😀old tailz+ \[…\d,\d+ more characters\]$/);
    expect(added).toBe(`+${removed.slice(1).replace("old", "new")}`);
    expect(all).not.toContain("more lines of this diff");
    expect(all.length).toBeLessThan(4000);
    expect(fixture.read("a.ts")).toBe(lines("new"));
    const diff = await server.says("list_changes", { diff: true, limit: 1 });
    expect(diff).toContain(`${removed}\n${added}`);
    expect(await server.says("undo")).toContain(`-${added.slice(1)}\n+${removed.slice(1)}`);
    const replaced = await server.says("replace_in_files", { paths: ["a.ts"], old: "old", new: "new" });
    expect(replaced).toMatch(
      /\n {2}3- \[…4,9\d\d characters\] x+😀old .*\n {2}3\+ \[…4,9\d\d characters\] x+😀new /,
    );
  });

  it("a long diff only in part, and counts the rest", async () => {
    fixture.write("a.ts", "line of text\n".repeat(2000));
    const said = await edit([{ old: "line", new: "LINE", all: true }]);
    expect(said).toMatch(/\[[\d,]+ more lines of this diff\]$/);
    expect(said.length).toBeLessThan(7000);
  });
});

describe("edit_file refuses, and nothing is changed", () => {
  it("a line of which the longest words are still there, and shows it as it is now", async () => {
    fixture.write("a.ts", `${code}function encodeShellArgument(argument, quote = true) {\n}\n`);
    const [, advice, line] = await refusal([{ old: "function encodeShellArgument(argumnt) {", new: "x" }]);
    expect(advice).toContain("most similar place is line 8");
    expect(line).toBe("function encodeShellArgument(argument, quote = true) {");
  });

  it("does not advise all: true for places that differ from the text, which it would not replace", async () => {
    fixture.write("quoted.txt", "say 'one' here\nsay 'one' there\n");
    const edits = [{ old: "say ‘one’", new: "x" }];
    const [first, second] = await server.refuses("edit_file", { path: "quoted.txt", edits });
    expect(first).toContain("fits 2 places in quoted.txt, none of them exactly");
    expect(second).not.toContain("all: true");
    const all = edits.map(edit => ({ ...edit, all: true }));
    await server.refuses("edit_file", { path: "quoted.txt", edits: all });
  });

  it.each<[string, unknown[], RegExp, RegExp]>([
    [
      "a text that is not there",
      [{ old: "return 3", new: "" }],
      /^no_match: edits\[0\]\.old is not in a\.ts$/,
      /most similar place is line \d/,
    ],
    [
      "tabs for spaces in a place that is not unique",
      [{ old: "function", new: "fn" }],
      /^ambiguous: edits\[0\]\.old fits 2 places in a\.ts \(lines 1, 5\)$/,
      /all: true/,
    ],
    ["the same text", [{ old: "one", new: "one" }], /^invalid_input: .*the same/, /./],
    ["an empty text", [{ old: "", new: "x" }], /^invalid_input: edits\[0\]\.old is empty/, /insert_after/],
    [
      "no kind of edit",
      [{ new: "x" }],
      /^invalid_input: edits\[0\] does not say what to replace/,
      /start_line/,
    ],
    [
      "two kinds at once",
      [{ old: "one", insert_after: 1, new: "x" }],
      /^invalid_input: edits\[0\] mixes/,
      /./,
    ],
    ["`all` without `old`", [{ insert_after: 1, all: true, new: "x" }], /^invalid_input: /, /old \+ new/],
    [
      "a line after the end",
      [{ start_line: 9, end_line: 9, new: "x" }],
      /^invalid_input: a\.ts has 7 lines; there is no line 9/,
      /./,
    ],
    [
      "lines in the wrong order",
      [{ start_line: 5, end_line: 3, new: "x" }],
      /^invalid_input: edits\[0\]: 5-3 is not a range of lines$/,
      /smaller number/,
    ],
    ["an insertion after the end", [{ insert_after: 8, new: "x" }], /^invalid_input: /, /./],
    [
      "edits that overlap",
      [
        { start_line: 1, end_line: 2, new: "x" },
        { old: "return 1", new: "y" },
      ],
      /^invalid_input: edits\[0\] and edits\[1\] overlap at line 2/,
      /one edit/,
    ],
    [
      "a missing group",
      [{ old: "(one)", new: "$2", regex: true }],
      /^invalid_input: new refers to \$2, but the pattern has 1 group$/,
      /\$1/,
    ],
    [
      "a broken expression",
      [{ old: "(", new: "", regex: true }],
      /^invalid_input: "\(" is not a valid regex/,
      /leave regex out/,
    ],
    [
      "no edits",
      [],
      /^invalid_input: 'edits' must have at least 1 item,/,
      /The parameters of edit_file: path, edits/,
    ],
    [
      "an unknown field",
      [{ oldText: "x", new: "y" }],
      /^invalid_input: 'edits\[0\]\.oldText' is not a parameter/,
      /^The keys of edits\[0\]: old, new, all, regex, ignore_case, start_line, end_line, insert_after, symbol\.$/,
    ],
    [
      "one that fits and one that does not",
      [
        { old: "one", new: "eins" },
        { old: "nope", new: "" },
      ],
      /^no_match: edits\[1\]\.old/,
      /./,
    ],
  ])("%s", async (_, edits, first, second) => {
    const lines = await refusal(edits);
    expect(lines[0]).toMatch(first);
    expect(lines[1]).toMatch(second);
    expect(fixture.read("a.ts")).toBe(code);
  });

  it("says in what whitespace a text differs, and shows the text to send", async () => {
    fixture.write(
      "a.ts",
      "if (a) {\n\t\tfirst();\n\tsecond();\n}\nif (b) {\n\t\tfirst();\n\t second();\n}\n",
    );
    const lines = await refusal([{ old: "    first();\n   second();", new: "x" }]);
    expect(lines[0]).toMatch(/^(no_match|ambiguous): /);
    fixture.write("a.ts", "\tcall( a,  b );\n");
    const spaced = await refusal([{ old: "call( a, b );\n\n", new: "x" }]);
    expect(spaced[0]).toMatch(/^no_match: /);
    expect(spaced.slice(1).join("\n")).toContain("\tcall( a,  b );");
  });

  it("line numbers that were copied along", async () => {
    const lines = await refusal([{ old: "1: function one() {\n2: \treturn 1;", new: "x" }]);
    expect(lines.slice(1)).toEqual([
      "Without the line numbers it is at line 1. Send the current text:",
      "function one() {",
      "\treturn 1;",
    ]);
  });

  it("other case, and line breaks written out", async () => {
    expect((await refusal([{ old: "Function One()", new: "x" }]))[1]).toMatch(
      /^At line 1 it occurs with different case/,
    );
    expect((await refusal([{ old: "one() {\\n\treturn 1;", new: "x" }]))[1]).toMatch(
      /^It has \\n written out as two characters/,
    );
  });

  it("paths that are missing, not files, binary, read-only or outside", async () => {
    fixture.write("b.bin", Buffer.from([1, 0, 2]));
    const at = async (path: string) =>
      (await server.refuses("edit_file", { path, edits: [{ old: "a", new: "b" }] }))[0];
    expect(await at("nope.ts")).toMatch(/^not_found: /);
    expect(await at(".")).toMatch(/^not_a_file: /);
    expect(await at("b.bin")).toMatch(/^binary: /);
    expect(await at("/etc/hosts")).toMatch(/^outside_roots: /);
  });
});
