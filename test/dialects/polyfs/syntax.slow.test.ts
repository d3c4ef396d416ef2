// What answers say about the structure of code.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { changeIn, Fixture, type Server } from "./fixture.ts";

let fixture: Fixture;
let server: Server;
beforeAll(async () => {
  fixture = new Fixture();
  server = await fixture.serve();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const code = "export function one() {\n  return f(1);\n}\n\nexport function two() {\n  return f(2);\n}\n";
const shapes = `// All shapes.
export interface Shape {
  area(): number;
}

/** A round one. */
@sealed
export class Circle implements Shape {
  constructor(readonly radius: number) {}

  /** Its area. */
  area() {
    return 3 * this.radius ** 2;
  }
}

export class Square implements Shape {
  area() {
    return 1;
  }
}

export function largest(shapes: Shape[]) {
  return shapes[0];
}
`;
beforeEach(() =>
  fixture.reset({
    "a.ts": code,
    "b.ts": code,
    "half.ts": "const a = ;\nconst b = 1;\n",
    "shapes.ts": shapes,
    "notes.md": "# One\ntext\n## Two\nmore\n# Three\nend\n",
    "odd#name.ts": "export const odd = 1;\n",
  }),
);

describe("a change that breaks syntax is made, and reports line, column and text", () => {
  const broken = "new syntax error at 2:13 (missing `)`): return f(1;";

  it("by edit_file, also in a dry run", async () => {
    const edits = [{ old: "f(1)", new: "f(1" }];
    expect(await server.says("edit_file", { path: "a.ts", edits, dry_run: true })).toContain(broken);
    expect(await server.says("edit_file", { path: "a.ts", edits })).toContain(broken);
    expect(fixture.read("a.ts")).toContain("f(1;");
  });

  it("by write_file, new or over another", async () => {
    const content = code.replace("f(1)", "f(1");
    expect(await server.says("write_file", { path: "a.ts", content })).toContain(broken);
    expect(await server.says("write_file", { path: "new.ts", content })).toContain("new syntax error at 2:");
  });

  it("by apply_patch, replace_in_files and undo, with the file's name where there are several", async () => {
    const patch = "--- a/a.ts\n+++ b/a.ts\n@@ -2 +2 @@\n-  return f(1);\n+  return f(1;\n";
    expect(await server.says("apply_patch", { patch })).toContain(broken);
    const said = await server.says("replace_in_files", { paths: ["?.ts"], old: "f(2)", new: "f(2" });
    expect(said).toContain("new syntax error at b.ts:6:");
    const good = { path: "b.ts", edits: [{ old: "f(2", new: "f(2)" }] };
    const mended = await server.says("edit_file", good);
    expect(mended).not.toContain("syntax");
    const fixed = await server.says("replace_in_files", { paths: ["a.ts"], old: "f(2", new: "f(2)" });
    expect(await server.says("undo", { change: changeIn(fixed) })).toMatch(/new syntax error at 6:\d+/);
  });

  it("and only new errors are reported", async () => {
    const edits = [{ old: "b = 1", new: "b = 2" }];
    expect(await server.says("edit_file", { path: "half.ts", edits })).not.toContain("syntax");
  });
});

describe("read_file reads by structure", () => {
  it("an outline: each declaration with its lines", async () => {
    const said = await server.says("read_file", { path: "shapes.ts", outline: true });
    expect(said.split("\n").slice(1)).toEqual([
      "1-4 export interface Shape",
      "  3 area(): number",
      "6-15 export class Circle implements Shape",
      "  9 constructor(readonly radius: number)",
      "  11-14 area()",
      "17-21 export class Square implements Shape",
      "  18-20 area()",
      "23-25 export function largest(shapes: Shape[])",
    ]);
  });

  it("an outline without the comments inside of declarations", async () => {
    const about = Array.from({ length: 30 }, (_, i) => `   * Line ${i} about it.`);
    const code = [
      "export const retry: {",
      "  /**",
      ...about,
      "   */",
      "  <A>(times: number): A // how often",
      "  (self: number, times: number): number",
      "} = dual(2, 'a // b')",
      "",
    ].join("\n");
    fixture.write("retry.ts", code);
    const said = await server.says("read_file", { path: "retry.ts", outline: true });
    expect(said.split("\n").at(-1)).toBe(
      "1-36 export const retry: { <A>(times: number): A (self: number, times: number): number }",
    );
  });

  it("lines and symbols, several of one file as one block with its version once", async () => {
    const paths = ["shapes.ts:1-2", "notes.md:1", "shapes.ts#Circle.area", "shapes.ts#largest"];
    const said = await server.says("read_file", { paths });
    expect(said.match(/v:/g)).toHaveLength(2);
    expect(said).toContain(
      "[lines 1-2 of 25]\n1: // All shapes.\n2: export interface Shape {\n[Circle.area · lines 11-14]\n11:   /** Its area. */\n12:   area() {",
    );
    expect(said).toContain("[largest · lines 23-25]\n23: export function largest");
  });

  it("a symbol with the comment and the decorators above it", async () => {
    const said = await server.says("read_file", { path: "shapes.ts#Circle" });
    expect(said).toContain("[Circle · lines 6-15]\n6: /** A round one. */\n7: @sealed\n8: export class");
  });

  it("and guesses nothing: two that match are both named, and a missing one is answered with the nearest names", async () => {
    const both = await server.refuses("read_file", { path: "shapes.ts#area" });
    expect(both[0]).toBe("ambiguous: area fits 3 declarations in shapes.ts");
    expect(both[1]).toContain("Circle.area (shapes.ts:11-14), Square.area (shapes.ts:18-20)");
    const none = await server.refuses("read_file", { path: "shapes.ts#Circle.aera" });
    expect(none[0]).toBe("not_found: shapes.ts declares no Circle.aera");
    expect(none[1]).toMatch(/^Did you mean .*Circle\.area/);
    const inline = await server.says("read_file", { paths: ["shapes.ts#nothing", "shapes.ts:3"] });
    expect(inline).toContain("not_found: shapes.ts declares no nothing");
    expect(inline).toContain("3:   area(): number;");
    expect((await server.refuses("read_file", { path: "shapes.ts:9-3" }))[0]).toMatch(/^invalid_input/);
    expect((await server.refuses("read_file", { path: "shapes.ts:99" }))[0]).toMatch(/^invalid_input/);
  });

  it("lines as compilers, stack traces and links write them", async () => {
    for (const [path, from, to] of [
      ["shapes.ts:8:14", 8, 8],
      ["shapes.ts#L8", 8, 8],
      ["shapes.ts#L8-L9", 8, 9],
      ["shapes.ts#L8C3-L9C1", 8, 9],
    ])
      expect(await server.says("read_file", { path })).toContain(`[lines ${from}-${to} of 25]\n8: `);
    fixture.write("late.ts", "const L2 = 1;\nconst b = 2;\n");
    expect(await server.says("read_file", { path: "late.ts#L2" })).toContain("[L2 · lines 1-1]");
  });

  it("suggests names that are near, and no short one that is a part of the wrong name", async () => {
    fixture.write("names.ts", "class A {\n  mid() {}\n  at() {}\n  abbreviateMiddle() {}\n}\n");
    const [, advice] = await server.refuses("read_file", { path: "names.ts#abreviateMiddle" });
    expect(advice).toBe("Did you mean A.abbreviateMiddle?");
  });

  it("tells declarations of the same name apart by their lines", async () => {
    fixture.write("A.java", "class A {\n  void f(int a) {\n  }\n\n  void f(String a) {\n  }\n}\n");
    const [, advice] = await server.refuses("read_file", { path: "A.java#f" });
    expect(advice).toBe("All have that name. Use the lines of one: 2-3, 5-6");
  });

  it("an existing file of exactly that name wins", async () => {
    fixture.write("a.ts:1", "colon\n");
    expect(await server.says("read_file", { path: "a.ts:1" })).toContain("1: colon");
    expect(await server.says("read_file", { path: "a.ts:1:1" })).toContain("[lines 1-1 of 1]\n1: colon");
    expect(await server.says("read_file", { path: "odd#name.ts" })).toContain("odd = 1");
    expect(await server.says("read_file", { path: "odd#name.ts#odd" })).toContain("[odd · lines 1-1]");
  });

  it("text by its headings where there is no grammar, and says so", async () => {
    const said = await server.says("read_file", { path: "notes.md", outline: true });
    expect(said).toContain("[not parsed as code");
    expect(said).toContain("1-4 # One\n  3-4 ## Two\n5-6 # Three");
    expect(await server.says("read_file", { path: "notes.md#Two" })).toContain("3: ## Two\n4: more");
  });

  it("takes limit for a part, too, and says how to go on", async () => {
    const said = await server.says("read_file", { path: "shapes.ts#Circle", limit: 2 });
    const [, from, to] = /^\[Circle · lines (\d+)-(\d+)\]$/m.exec(said) ?? [];
    const lines = said.split("\n").filter(line => /^\d+: /.test(line));
    expect(lines.map(line => Number.parseInt(line, 10))).toEqual([Number(from), Number(from) + 1]);
    expect(said).toContain(`[go on with shapes.ts:${Number(from) + 2}-${to}]`);
    expect(await server.says("read_file", { path: "shapes.ts:1-3", limit: 2 })).toContain(
      "[go on with shapes.ts:3-3]",
    );
  });

  it("and a file that is cut at the limit begins with its outline", async () => {
    const said = await server.says("read_file", { path: "shapes.ts", limit: 5 });
    expect(said).toMatch(/^shapes\.ts · .*\n\[outline\]\n1-4 export interface Shape\n/);
    expect(said).toContain("[lines]\n1: // All shapes.");
    expect(said).toMatch(/\[lines 1-5 of 25; go on with offset=6\]$/);
    const next = await server.says("read_file", { path: "shapes.ts", limit: 5, offset: 6 });
    expect(next).not.toContain("[outline]");
  });
});

describe("an outline that is larger than its share of the file", () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, i) => `function number${i}() {\n  return ${i};\n}\n`);

  it("can be continued until every declaration was listed", async () => {
    fixture.write("many.js", many(400).join(""));
    const seen: string[] = [];
    for (let offset: number | undefined = 1; offset !== undefined; ) {
      const said = await server.says("read_file", { path: "many.js", outline: true, offset });
      seen.push(...(said.match(/number\d+/g) ?? []));
      const next = /outline with offset=(\d+)\]$/.exec(said)?.[1];
      offset = next === undefined ? undefined : Number(next);
    }
    expect(seen).toEqual(Array.from({ length: 400 }, (_, i) => `number${i}`));
  });

  it("can be requested for a part, which then includes smaller declarations", async () => {
    fixture.write(
      "nested.js",
      many(60)
        .map((one, i) => `class C${i} {\n${one.replace("function ", "")}}\n`)
        .join(""),
    );
    const whole = await server.says("read_file", { path: "nested.js", outline: true });
    expect(whole).toMatch(
      /smaller declarations left out: outline with offset and limit has those of a part\]$/,
    );
    expect(whole).toContain("C59");
    const part = await server.says("read_file", { path: "nested.js", outline: true, offset: 296, limit: 5 });
    expect(part.split("\n").slice(1)).toEqual(["296-300 class C59", "  297-299 number59()"]);
    const named = await server.says("read_file", { path: "nested.js#C59", outline: true });
    expect(named.split("\n").slice(2)).toEqual(["296-300 class C59", "  297-299 number59()"]);
  });

  it("counts the declarations after the requested lines", async () => {
    fixture.write("many.js", many(400).join(""));
    const page = (params: object) => server.says("read_file", { path: "many.js", outline: true, ...params });
    const first = await page({ limit: 6 });
    expect(first.split("\n").slice(1)).toEqual([
      "1-3 function number0()",
      "4-6 function number1()",
      "[398 more declarations: outline with offset=7]",
    ]);
    expect(await page({ offset: 1195, limit: 6 })).toMatch(/number399\(\)$/);
    fixture.write("head.js", `${"// a comment\n".repeat(9)}\nfunction late() {}\n`);
    expect(
      await server.says("read_file", { path: "head.js", outline: true, limit: 3, offset: 2 }),
    ).not.toMatch(/\[no declarations\]/);
  });

  it("says where it ends in a text with more sections than are listed", async () => {
    fixture.write("long.md", `${"# Heading\n".repeat(100_001)}# Last\n`);
    const last = await server.says("read_file", { path: "long.md", outline: true, offset: 99_999 });
    expect(last).toMatch(/\[the file has more than 100,000; those after line 100000 are not listed: .*\]$/);
    const beyond = await server.says("read_file", { path: "long.md", outline: true, offset: 100_001 });
    expect(beyond).toMatch(/\[no declarations in these lines\]\n\[the file has more than 100,000; /);
    const [, advice] = await server.refuses("read_file", { path: "long.md#Last" });
    expect(advice).toBe("Only its first 100,000 sections are known; find others with search_text.");
  });

  it("knows every section of a long text by name", async () => {
    fixture.write("long.md", Array.from({ length: 6000 }, (_, i) => `# Part ${i}\n\n`).join(""));
    expect(await server.says("read_file", { path: "long.md#Part 5999" })).toContain("11999: # Part 5999");
    const edits = [{ symbol: "Part 5998", new: "# Part 5998\nnew\n" }];
    expect(await server.says("edit_file", { path: "long.md", edits })).toContain("\n # Part 5998\n-\n+new\n");
  });

  it("says that a file is too large to parse, wherever that makes a difference", async () => {
    const one = "function some() {\n  return 1;\n}\n";
    fixture.write("large.js", `function last() {\n  return 2;\n}\n${one.repeat(50_000)}`);
    const outline = await server.says("read_file", { path: "large.js", outline: true, limit: 3 });
    expect(outline).toContain("[too large to parse as code: outlined by headings and indentation]");
    const part = await server.says("read_file", { path: "large.js#last" });
    expect(part).toContain("[too large to parse as code: symbols are found by headings and indentation]");
    const [, advice] = await server.refuses("read_file", { path: "large.js#lats" });
    expect(advice).toBe("Did you mean last? The file is too large to parse: only blocks are known.");
    const search = { pattern: "last", kind: "definition", path: "large.js" };
    expect(await server.says("search_text", search)).toContain("[1 file not parsed: matched as text]");
    const edits = [{ old: "return 2;", new: "return 2" }];
    const edited = await server.says("edit_file", { path: "large.js", edits });
    expect(edited).toMatch(/\n\[syntax not checked: too large to parse\]$/);
  });

  it("is complete for a small file, and without the fields of Go's types", async () => {
    fixture.write(
      "a.go",
      "package a\n\ntype A struct {\n\t// X is one.\n\tX int\n}\n\ntype B interface {\n\tF() int\n}\n\ntype C = int\n",
    );
    const said = await server.says("read_file", { path: "a.go", outline: true });
    expect(said.split("\n").slice(1)).toEqual([
      "3-6 type A struct",
      "8-10 type B interface",
      "  9 F() int",
      "12 type C = int",
    ]);
  });
});

describe("search_text understands code", () => {
  it("names the symbol in a file that is too large to be parsed for it, once it was read by structure", async () => {
    const filler = Array.from(
      { length: 1200 },
      (_, i) => `export function f${i}() {\n  return ${i};\n}\n`,
    ).join("");
    fixture.write("large.js", `${filler}function last() {\n  return "needle";\n}\n`);
    const search = { pattern: "needle", path: "large.js" };
    expect(await server.says("search_text", search)).not.toContain("‹");
    await server.says("read_file", { path: "large.js#last" });
    expect(await server.says("search_text", search)).toContain('"needle"; ‹ last 3601-3603');
  });

  it("each hit names the symbol around it", async () => {
    const said = await server.says("search_text", { pattern: "return", path: "shapes.ts" });
    expect(said).toContain("13:     return 3 * this.radius ** 2; ‹ Circle.area 11-14\n");
    expect(said).toContain("24:   return shapes[0]; ‹ largest 23-25\n");
  });

  it("finds definitions, and references outside of strings, comments and definitions", async () => {
    fixture.write(
      "use.ts",
      'import { largest } from "./shapes";\n// largest\nconst s = "largest";\nlargest([]);\n',
    );
    fixture.write("use.py", "# largest\nprint(largest)\n");
    fixture.write("use.txt", "largest\n");
    const search = (kind: string, more = {}) =>
      server.says("search_text", { pattern: "largest", kind, ...more });
    const definitions = await search("definition");
    expect(definitions).toMatch(
      /^shapes\.ts · v:\w+\n23: export function largest\(.*\n\[1 match in 1 file\]\n\[by name/,
    );
    const references = await search("reference");
    expect(references).toContain("\n1: import { largest }");
    expect(references).toContain("\n4: largest([]);");
    expect(references).toContain("\n2: print(largest)");
    expect(references).not.toContain("// largest");
    expect(references).not.toContain('"largest"');
    expect(references).toContain(
      "[by name; 4 other lines left out: in a string, a comment or a declaration]",
    );
    expect(references).toContain("[1 file not parsed: matched as text]");
    expect(await search("reference", { output: "count" })).toMatch(/^4 matches in 3 files\nuse\.ts: 2\n/);
  });
});

describe("edit_file replaces a declaration by its name", () => {
  const edit = (symbol: string, added: string) =>
    server.says("edit_file", { path: "shapes.ts", edits: [{ symbol, new: added }] });

  it("indented to its place, and the comment above it stays", async () => {
    await edit("Circle.area", "area() {\n  return 4;\n}");
    expect(fixture.read("shapes.ts")).toContain("  /** Its area. */\n  area() {\n    return 4;\n  }\n}\n");
  });

  it("with a comment of its own, in the place of the old one", async () => {
    await edit("Circle.area", "  /** New. */\n  area() {\n    return 4;\n  }");
    const after = fixture.read("shapes.ts");
    expect(after).toContain("number) {}\n\n  /** New. */\n  area() {\n    return 4;\n  }\n}\n");
    expect(after).not.toContain("Its area");
  });

  it("decorators stay, too, and others are untouched", async () => {
    await edit("Circle", "export class Circle {}\n");
    expect(fixture.read("shapes.ts")).toBe(
      shapes.replace(/export class Circle[\s\S]*?\n}\n/, "export class Circle {}\n"),
    );
  });

  it("together with other edits; two matches are refused", async () => {
    const edits = [
      { symbol: "largest", new: "export const largest = 1;" },
      { old: "// All", new: "// Some" },
    ];
    await server.says("edit_file", { path: "shapes.ts", edits });
    expect(fixture.read("shapes.ts")).toMatch(/^\/\/ Some[\s\S]*\nexport const largest = 1;\n$/);
    const refusal = await server.refuses("edit_file", {
      path: "shapes.ts",
      edits: [{ symbol: "area", new: "" }],
    });
    expect(refusal[0]).toMatch(/^ambiguous: area fits 3/);
  });
});

describe("search_text by kind", () => {
  it("takes a name as the code writes it: with a keyword, with its class, with a dollar sign", async () => {
    fixture.write(
      "kinds/a.ts",
      "export class Client {\n  connect() {}\n}\nclass Pool {\n  connect() {}\n}\nconst c = new Client();\n" +
        "export interface $ZodType {}\nlet z: $ZodType;\nlet other: my$ZodType;\n",
    );
    const found = async (pattern: string, kind = "definition") =>
      [...(await server.says("search_text", { pattern, kind, path: "kinds" })).matchAll(/^(\d+): /gm)].map(
        ([, line]) => Number(line),
      );
    expect(await found("class Client")).toEqual([1]);
    expect(await found("Client.connect")).toEqual([2]);
    expect(await found("Pool.connect()")).toEqual([5]);
    expect(await found("connect")).toEqual([2, 5]);
    expect(await found("$ZodType")).toEqual([8]);
    expect(await found("interface $ZodType")).toEqual([8]);
    expect(await found("$ZodType", "reference")).toEqual([9]);
  });

  it("does not take prose that mentions a name for a definition", async () => {
    fixture.write("prose/Guard.java", "class Guard {\n  Guard() {}\n}\n");
    fixture.write(
      "prose/notes.txt",
      "o X-1:  Guard: add overloads\n  more\no Name the type in the Guard.of and\n  more\n",
    );
    fixture.write("prose/a.kt", "class Guard : Base {\n  val a = 1\n}\n");
    const params = { pattern: "Guard", kind: "definition", path: "prose" };
    const said = await server.says("search_text", params);
    expect(said).not.toContain("notes.txt");
    for (const line of ["1: class Guard {", "2:   Guard() {}", "1: class Guard : Base {"])
      expect(said).toContain(line);
  });

  it("says that kind takes a name where a regex found nothing", async () => {
    fixture.write("kinds/a.ts", "const c = new Client();\n");
    const said = await server.says("search_text", {
      pattern: "new +Client",
      kind: "definition",
      path: "kinds",
    });
    expect(said).toContain("[kind takes a name: Client or Client.connect]");
    fixture.write("kinds/a.rb", "module A\n  class B\n    def go\n    end\n  end\nend\n");
    for (const pattern of ["A.B.go", "A::B.go", "A::B#go", "B::go"]) {
      const found = await server.says("search_text", { pattern, kind: "definition", path: "kinds" });
      expect(found).toContain("3:     def go");
    }
    const reference = { pattern: "api.connect", kind: "reference", path: "kinds" };
    expect(await server.says("search_text", reference)).toContain("[kind takes a name: connect]");
  });
});

describe("replace_in_files by name", () => {
  it("renames one symbol across files, and reports the places that may be another symbol", async () => {
    fixture.write(
      "lib.ts",
      "export function load(a: string) {\n  return load2(a); // load\n}\nconst load2 = load;\n",
    );
    fixture.write(
      "use.ts",
      'import { load } from "./lib";\nconst o = { load };\nload("load");\nfs.load();\n',
    );
    const params = { paths: ["lib.ts", "use.ts"], old: "load", new: "fetchIt", match: "name" };
    const tried = await server.says("replace_in_files", { ...params, dry_run: true });
    expect(tried).toContain("would replace 5 occurrences in 2 files");
    expect(tried).toContain('  1- import { load } from "./lib";\n');
    const said = await server.says("replace_in_files", params);
    expect(said).toContain(
      "[1 place left alone, which may refer to something else of that name:]\nuse.ts:4: fs.load();",
    );
    expect(fixture.read("lib.ts")).toBe(
      "export function fetchIt(a: string) {\n  return load2(a); // load\n}\nconst load2 = fetchIt;\n",
    );
    expect(fixture.read("use.ts")).toBe(
      'import { fetchIt } from "./lib";\nconst o = { load: fetchIt };\nfetchIt("load");\nfs.load();\n',
    );
  });

  it("takes the files of a Go package as one", async () => {
    fixture.write("p/a.go", "package p\n\nfunc Size() int { return 1 }\n");
    fixture.write("p/b.go", "package p\n\nvar x = T{Size: Size()}\n\nvar y = t.Size()\n");
    fixture.write("p/b_test.go", "package p_test\n\nvar z = Size()\n");
    const params = { paths: ["p/*"], old: "Size", new: "Length", match: "name" };
    const said = await server.says("replace_in_files", params);
    expect(fixture.read("p/b.go")).toBe("package p\n\nvar x = T{Size: Length()}\n\nvar y = t.Size()\n");
    for (const place of ["p/b.go:3: ", "p/b.go:5: ", "p/b_test.go:3: "]) expect(said).toContain(place);
    fixture.write("p/m.go", "package p\n\nfunc (t *T) Length() {}\n");
    const both = await server.refuses("replace_in_files", { ...params, old: "Length", new: "Count" });
    expect(both[0]).toBe("ambiguous: Length fits 2 declarations in 2 files");
  });

  it("follows a class of Java with its constructors through its package and imports", async () => {
    const declaring =
      "package a.b;\n\npublic class Check {\n  Check() { this(1); }\n  Check(int i) {}\n  static Check of() { return new Check(); }\n}\n";
    const used =
      "import a.b.Check;\nimport static a.b.Check.of;\n\nclass U { Check c = Check.of(); int x = c.Check(); }\n";
    const hidden = "import a.b.Check;\n\nclass H { void m(int Check) { Check++; } }\n";
    const other = "import c.d.Check;\n\nclass O { Check c; }\n";
    fixture.write("j/main/Check.java", declaring);
    fixture.write("j/test/T.java", "package a.b;\n\nclass T { Object o = Check.of(); } // Check\n");
    fixture.write("j/U.java", used);
    fixture.write("j/O.java", other);
    const params = { paths: ["j"], old: "Check", new: "Guard", match: "name" };
    const said = await server.says("replace_in_files", params);
    expect(fixture.read("j/main/Check.java")).toBe(declaring.replaceAll("Check", "Guard"));
    expect(fixture.read("j/test/T.java")).toContain("Guard.of(); } // Check");
    expect(fixture.read("j/U.java")).toBe(used.replaceAll("Check", "Guard").replace("c.Guard", "c.Check"));
    expect(fixture.read("j/O.java")).toBe(other);
    for (const place of ["j/U.java:4: ", "j/O.java:1: ", "j/O.java:3: "]) expect(said).toContain(place);
    fixture.write("j/main/Check.java", declaring);
    fixture.write("j/H.java", hidden);
    await server.says("replace_in_files", { ...params, old: "j/main/Check.java#Check" });
    expect(fixture.read("j/H.java")).toBe(hidden.replace("import a.b.Check", "import a.b.Guard"));
  });

  it("treats a default value, a call and a caught exception as uses, not as declarations", async () => {
    const python =
      "class Bad(Exception):\n    pass\n\n\ndef f(cls: type = Bad, other=Bad):\n    try:\n        raise cls\n    except Bad as e:\n        return e\n";
    fixture.write("uses/bad.py", python);
    await server.says("replace_in_files", {
      paths: ["uses/bad.py"],
      old: "Bad",
      new: "Worse",
      match: "name",
    });
    expect(fixture.read("uses/bad.py")).toBe(python.replaceAll("Bad", "Worse"));
    fixture.write("uses/A.java", "class A { void run() {} void go(A a) { a.run(); run(); } }\n");
    const params = { paths: ["uses/A.java"], old: "run", new: "start", match: "name" };
    const said = await server.says("replace_in_files", params);
    expect(said).toContain("replaced 1 occurrence in 1 file");
    expect(said).toContain("[2 places left alone");
  });

  it("does not take the name of a field for a function", async () => {
    const rust =
      "fn name() {}\nfn g() { S { name: name() }; }\nfn h() { S { name }; }\nfn i(S { name }: S) {}\n";
    fixture.write("f.rs", rust);
    const said = await server.says("replace_in_files", {
      paths: ["f.rs"],
      old: "name",
      new: "title",
      match: "name",
    });
    expect(fixture.read("f.rs")).toBe(rust.replace("fn name", "fn title").replace("name()", "title()"));
    expect(said).toContain("[3 places left alone");
  });

  it("says how to rename the places that it left alone", async () => {
    fixture.write("c/a.h", "inline int Size() { return 1; }\n");
    fixture.write("c/b.cc", "int x = Size();\n");
    const params = { paths: ["c/*"], old: "Size", new: "Length", match: "name" };
    const said = await server.says("replace_in_files", params);
    expect(said).toContain("c/b.cc:1: int x = Size();");
    const [, old] = /match: regex, old: (\S+), with paths/.exec(said) ?? [];
    await server.says("replace_in_files", { ...params, match: "regex", old });
    expect(fixture.read("c/b.cc")).toBe("int x = Length();\n");
  });

  it("names the declarations that cannot be chosen, besides those that can", async () => {
    fixture.write(
      "pair/a.rs",
      "impl A {\n    fn kind(&self) {}\n}\nimpl T for A {\n    fn kind(&self) {}\n}\n",
    );
    fixture.write("pair/b.rs", "fn f() {\n    let kind = 1;\n}\n");
    const params = { paths: ["pair"], old: "kind", new: "sort", match: "name" };
    const refusal = await server.refuses("replace_in_files", params);
    expect(refusal[0]).toBe("ambiguous: kind fits 3 declarations in 2 files");
    expect(refusal[1]).toBe("Set old to one of: pair/b.rs#kind");
    expect(refusal[2]).toMatch(/^Uses of these cannot be distinguished: .*pair\/a\.rs:2-2.*pair\/a\.rs:5-5/);
    expect(refusal[3]).toMatch(/^For all of them: /);
  });

  it("guesses nothing if two symbols have the name", async () => {
    fixture.write("one.ts", "export function run() {}\n");
    fixture.write("two.ts", "function f() {\n  const run = 1;\n  return run;\n}\n");
    const params = { paths: ["one.ts", "two.ts"], old: "run", new: "go", match: "name" };
    const refusal = await server.refuses("replace_in_files", params);
    expect(refusal[0]).toBe("ambiguous: run fits 2 declarations in 2 files");
    expect(refusal[1]).toBe("Set old to one of: one.ts#run, two.ts#run");
    expect(fixture.read("one.ts")).toContain("run");
    const [, old] = /^For all of them: match: regex, old: (\S+)$/.exec(refusal[2] ?? "") ?? [];
    await server.says("replace_in_files", { ...params, match: "regex", old });
    expect([fixture.read("one.ts"), fixture.read("two.ts")].join("")).not.toContain("run");
  });

  it("counts all symbols of a name, even if it cannot list them all", async () => {
    const names = Array.from({ length: 40 }, (_, i) => `crowd/m${i}.ts`);
    for (const name of names) fixture.write(name, "export function each() {}\n");
    const params = { paths: ["crowd"], old: "each", new: "all", match: "name" };
    expect((await server.refuses("replace_in_files", params))[0]).toBe(
      "ambiguous: each fits 40 declarations in 40 files",
    );
  });

  it("lists the methods of that name in other classes, which may implement the one that it renames", async () => {
    const languages = {
      php: [
        "<?php\ninterface Shape {\n  public function area(): int;\n}\n",
        "<?php\nclass Box implements Shape {\n  public function area(): int { return 1; }\n}\n",
      ],
      java: [
        "package one;\ninterface Shape {\n  int area();\n}\n",
        "package two;\nclass Box implements Shape {\n  public int area() { return 1; }\n}\n",
      ],
      py: [
        "class Shape:\n    def area(self):\n        pass\n",
        "class Box(Shape):\n    def area(self):\n        return 1\n",
      ],
      rb: ["class Shape\n  def area\n  end\nend\n", "class Box < Shape\n  def area\n    1\n  end\nend\n"],
      go: [
        "package a\n\nfunc (s Shape) area() int { return 0 }\n",
        "package b\n\nfunc (b Box) area() int { return 1 }\n",
      ],
    };
    for (const [ending, [shape, box]] of Object.entries(languages)) {
      const [here, there] = [`kin/${ending}/one/shape.${ending}`, `kin/${ending}/two/box.${ending}`];
      fixture.write(here, shape ?? "");
      fixture.write(there, box ?? "");
      const params = { paths: [`kin/${ending}`], old: `${here}#area`, new: "size", match: "name" };
      const said = await server.says("replace_in_files", params);
      expect(fixture.read(here), ending).toContain("size");
      expect(fixture.read(there), ending).toBe(box);
      expect(said, ending).toContain(`\n${there}:`);
    }
  });

  it("takes for old each notation that the refusal of an ambiguous name prints", async () => {
    const files = {
      "pick/a.ts":
        "export class Query { run() { return this.run; } }\nexport class Other {\n  Query() { return this.Query(); }\n}\n",
      "pick/b.ts":
        'import { Query } from "./a";\nnew Query();\nfunction f(Query: number) { return Query; }\n',
      "pick/c.js":
        "function g() { const Query = 1; return Query; } function h() { const Query = 2; return Query; }\n",
    };
    const params = { paths: ["pick"], old: "Query", new: "Ask", match: "name" };
    const reset = () => {
      for (const [path, text] of Object.entries(files)) fixture.write(path, text);
    };
    reset();
    const printed = (await server.refuses("replace_in_files", params))[1] ?? "";
    expect(printed).toMatch(/^Set old to one of: /);
    const notations = printed.replace(/^[^:]*: /, "").split(", ");
    const made: string[] = [];
    for (const old of notations) {
      reset();
      const said = await server.says("replace_in_files", { ...params, old });
      expect(said, old).not.toContain("left alone");
      const after = Object.keys(files).map(path => fixture.read(path));
      made.push(after.map(text => text.match(/\bAsk\b/g)?.length ?? 0).join(" "));
    }
    expect(made).toEqual(["1 2 0", "2 0 0", "0 2 0", "0 0 2", "0 0 2"]);
    reset();
    await server.says("replace_in_files", { ...params, old: "pick/a.ts#Other.Query" });
    expect(fixture.read("pick/a.ts")).toContain("  Ask() { return this.Ask(); }\n");
    expect(fixture.read("pick/a.ts")).toContain("class Query");
    const unknown = await server.refuses("replace_in_files", { ...params, old: "pick/a.ts#Nobody.Query" });
    expect(unknown[0]).toBe("not_found: pick/a.ts declares no Nobody.Query");
    expect((await server.refuses("replace_in_files", { ...params, old: "one.ts#Query" }))[1]).toContain(
      "paths",
    );
  });

  it("follows the imports of Python, through packages that pass a name on", async () => {
    const before = {
      "lib/core.py":
        '__all__ = ["load", "save"]\n\n\ndef load(path):\n    return path\n\n\ndef save(load):\n    return load\n',
      "lib/__init__.py": "from .core import load\n",
      "lib/all.py": "from lib.core import *\n",
      "lib/near.py":
        "from . import load as l\nfrom .core import load\n\n\nclass A:\n    def load(self):\n        return load(self)\n",
      "main.py":
        "import lib\nimport lib.core as c\nfrom lib.all import load\n\nprint(lib.load(1), c.load(load(2)), [load for load in ()])\n",
    };
    for (const [path, text] of Object.entries(before)) fixture.write(`py/${path}`, text);
    const said = await server.says("replace_in_files", {
      paths: ["py"],
      old: "py/lib/core.py#load",
      new: "read",
      match: "name",
    });
    const after = Object.keys(before).map(path => fixture.read(`py/${path}`));
    expect(after).toEqual([
      '__all__ = ["read", "save"]\n\n\ndef read(path):\n    return path\n\n\ndef save(load):\n    return load\n',
      "from .core import read\n",
      "from lib.core import *\n",
      "from . import read as l\nfrom .core import read\n\n\nclass A:\n    def load(self):\n        return read(self)\n",
      "import lib\nimport lib.core as c\nfrom lib.all import read\n\nprint(lib.read(1), c.read(read(2)), [load for load in ()])\n",
    ]);
    expect(said).not.toContain("left alone");
  });

  it("takes a package of Python for what is imported, and no directory of its name, which may be on the path too", async () => {
    const files = {
      "gear/run.py": "import gear.common\ngear.common.measure(1)\n",
      "gear/lib/gear/__init__.py": "",
      "gear/lib/gear/common.py": "def measure(x):\n    return x\n",
      "gear/lib/gear/make.py": "import gear.common\n\ngear.common.measure(2)\n",
    };
    for (const [path, text] of Object.entries(files)) fixture.write(`namespace/${path}`, text);
    const rename = (more: object) =>
      server.says("replace_in_files", {
        paths: ["namespace"],
        old: "namespace/gear/lib/gear/common.py#measure",
        new: "weigh",
        match: "name",
        ...more,
      });
    const sure = await rename({ dry_run: true });
    expect(sure).toMatch(/^would replace 3 occurrences in 3 files\n/);
    expect(sure).not.toContain("left alone");
    // With a module of that name, the directory may be meant.
    fixture.write("namespace/gear/common.py", "def measure(x):\n    return -x\n");
    const said = await rename({ dry_run: true });
    expect(said).toContain("would replace 1 occurrence in 1 file\n");
    expect(said).toContain("namespace/gear/lib/gear/make.py:3: gear.common.measure(2)");
  });

  it("lists places that the imports of Python leave open", async () => {
    const open = {
      "near.py": "from logging import log\nlog(1)\n",
      "either.py": "try:\n    from .logging import log\nexcept ImportError:\n    log = None\nlog(2)\n",
      "member.py": "from . import config\nconfig.log(3)\n",
      "keyword.py": "f(log=4)\n",
    };
    fixture.write("open/__init__.py", "from .config import config\n");
    fixture.write(
      "open/config.py",
      "class Config:\n    def log(self, x): pass\nconfig = Config()\ndef log(x): pass\n",
    );
    fixture.write("open/logging.py", "def log(x): pass\n");
    for (const [path, text] of Object.entries(open)) fixture.write(`open/${path}`, text);
    for (const declaring of ["logging.py", "config.py:4"]) {
      const said = await server.says("replace_in_files", {
        paths: ["open"],
        old: `open/${declaring}#log`,
        new: "note",
        match: "name",
        dry_run: true,
      });
      expect(said).toContain("would replace 1 occurrence in 1 file");
      for (const line of [
        "near.py:2: log(1)",
        "either.py:5: log(2)",
        "member.py:2: config.log(3)",
        "keyword.py:1",
      ])
        expect(said).toContain(line);
    }
  });

  it("does not offer a notation where scopes are unknown", async () => {
    fixture.write("shadow.rb", "def run()\nend\n\ndef f()\n  run = 1\n  run\nend\n");
    const params = { paths: ["shadow.rb"], old: "run", new: "go", match: "name" };
    const refusal = await server.refuses("replace_in_files", params);
    expect(refusal[1]).toContain("edit_file");
    await server.refuses("replace_in_files", { ...params, old: "shadow.rb#run" });
    expect(fixture.read("shadow.rb")).toContain("def run()");
  });

  it("renames a member with its uses through this, also where the class extends one that is not here", async () => {
    fixture.write(
      "heir.js",
      "class A extends Base { go(){ this.onRow(); this.onRow; super.onRow() } onRow(){} }\n",
    );
    const said = await server.says("replace_in_files", {
      paths: ["heir.js"],
      old: "onRow",
      new: "onLine",
      match: "name",
    });
    expect(fixture.read("heir.js")).toBe(
      "class A extends Base { go(){ this.onLine(); this.onLine; super.onRow() } onLine(){} }\n",
    );
    expect(said).toContain("[A.onRow may override a member of Base]");
    expect(said).toContain("[1 place left alone");
  });

  it("does not take the key of an argument for the declaration of a member", async () => {
    fixture.write(
      "keys.ts",
      "export const a = make({ onFail: 1 });\nexport const b: Options = { onFail: 2 };\n",
    );
    fixture.write("user.ts", "class A extends Base {\n  set() {\n    this.onFail = 1;\n  }\n}\n");
    const params = { paths: ["keys.ts", "user.ts"], old: "onFail", new: "onError", match: "name" };
    const said = await server.says("replace_in_files", params);
    expect(said).toContain("replaced 0 occurrences");
    expect(said).toContain("[3 places left alone");
    expect(fixture.read("keys.ts")).not.toContain("onError");
  });

  it("renames a member with its overrides in the same file, and no unrelated one", async () => {
    fixture.write(
      "family.ts",
      "abstract class Base<T> { abstract onRow(): void; all() { this.onRow(); } }\n" +
        "class Middle extends Base<string> implements Rows { go() { return () => this.onRow(); } onRow() {} }\n" +
        "class Leaf extends Middle { onRow() { super.onRow(); } }\n" +
        "const other = { onRow: 1 };\n",
    );
    const params = { paths: ["family.ts"], old: "onRow", new: "onLine", match: "name" };
    const refusal = await server.refuses("replace_in_files", params);
    expect(refusal[1]).toBe("Set old to one of: family.ts:1#onRow, family.ts:4#onRow");
    const said = await server.says("replace_in_files", { ...params, old: "family.ts#Leaf.onRow" });
    expect(said).toContain("[Middle.onRow may override a member of Rows]");
    expect(fixture.read("family.ts").match(/onLine/g)?.length).toBe(6);
    expect(fixture.read("family.ts")).toContain("{ onRow: 1 }");
  });
});

describe("a name as an assignment writes it", () => {
  const legacy = [
    "function Reply() {}",
    "Reply.prototype.send = function (payload) {",
    "  return payload;",
    "};",
    "Reply.close = function () {};",
    "Reply.prototype.close = function () {};",
    "exports.helper = function () {};",
    "module.exports.second = () => {};",
    "",
  ].join("\n");
  beforeEach(() => fixture.reset({ "a.js": legacy, "b.ini": "[host:8080]\nkey = 1\n" }));

  it.each([
    ["Reply.prototype.send", "2-4"],
    ["Reply.prototype.send()", "2-4"],
    ["Reply.prototype.close", "6-6"],
    ["exports.helper", "7-7"],
    ["module.exports.second", "8-8"],
  ])("is accepted where a symbol is: %s", async (symbol, lines) => {
    expect(await server.says("read_file", { path: `a.js#${symbol}` })).toContain(` · lines ${lines}]\n`);
    const first = Number(lines.split("-")[0]);
    const found = await server.says("search_text", { pattern: symbol, kind: "definition" });
    expect(found).toContain(`\n${first}: `);
    await server.says("edit_file", { path: "a.js", edits: [{ symbol, new: "// replaced" }] });
    expect(fixture.read("a.js").split("\n")[first - 1]).toBe("// replaced");
  });

  it("is refused with the candidates where two fit", async () => {
    const [first, second] = await server.refuses("read_file", { path: "a.js#Reply.close" });
    expect(first).toBe("ambiguous: Reply.close fits 2 declarations in a.js");
    expect(second).toMatch(/: 5-5, 6-6$/);
  });

  it("is not said to be missing where only its uses cannot be told from those of others", async () => {
    fixture.reset({ "d.js": "const proto = (module.exports = {\n  look() {\n    return 1;\n  },\n});\n" });
    const params = { paths: ["d.js"], new: "see", match: "name" };
    for (const old of ["d.js#look", "d.js#proto.look", "d.js:2#look"]) {
      const [first, second] = await server.refuses("replace_in_files", { ...params, old });
      expect(first).toContain("in d.js cannot be distinguished from those of other members named look");
      expect(second).toContain("match: regex");
    }
    const [none] = await server.refuses("replace_in_files", { ...params, old: "d.js:3#look" });
    expect(none).toBe("not_found: d.js declares no look");
  });

  it("may be the name of an assigned class itself, for reading, editing and renaming", async () => {
    const assigned =
      "module.exports = class Application extends Base {\n  inspect() {\n    return 1;\n  }\n};\n";
    const rename = { paths: ["c.js"], old: "c.js#Application.inspect", new: "look", match: "name" };
    fixture.reset({ "c.js": assigned, "e.js": "ns.held = class Held {\n  look() {}\n};\n" });
    expect(await server.says("read_file", { path: "e.js#Held.look" })).toContain(" · lines 2-2]\n");
    for (const symbol of ["Application", "module.exports"])
      expect(await server.says("read_file", { path: `c.js#${symbol}` })).toContain(" · lines 1-5]\n");
    for (const [pattern, line] of [
      ["Application", "1: module.exports = "],
      ["Application.inspect", "2:   inspect() { ‹ Application 1-5"],
    ])
      expect(await server.says("search_text", { pattern, kind: "definition" })).toContain(`\n${line}`);
    expect(await server.says("read_file", { path: "c.js#Application.inspect" })).toContain(" · lines 2-4]\n");
    await server.says("replace_in_files", rename);
    const edit = { symbol: "Application.look", new: "look() {}" };
    await server.says("edit_file", { path: "c.js", edits: [edit] });
    expect(fixture.read("c.js")).toBe("module.exports = class Application extends Base {\n  look() {}\n};\n");
    expect((await server.refuses("read_file", { path: "c.js#Application.other" }))[0]).toMatch(/^not_found/);
  });

  it("may end like lines do", async () => {
    expect(await server.says("read_file", { path: "b.ini#host:8080" })).toContain("\n1: [host:8080]\n");
  });
});
