// Files in old encodings: read as text, edited, and different from the original only in the edit.
import iconv from "iconv-lite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fixture, type Server } from "./fixture.ts";

let fixture: Fixture;
let server: Server;
beforeAll(async () => {
  fixture = new Fixture();
  server = await fixture.serve();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const german = "Über die Größe\nfällt schönes Öl,\nwürzig und süß.\n";
const japanese = "これは日本語のテキストです。\nひらがなとカタカナがあります。\nおわりです。\n";
const chinese = "这是一个简体中文的文本文件，\n里面有很多常用的汉字和标点。\n最后一行就在这里。\n";

// German is the same bytes in half a dozen encodings: shown, but not certain.
describe.each([
  ["shift_jis", "shift_jis", japanese, "カタカナ", "漢字"],
  ["gbk", "gb18030", chinese, "常用", "好看"],
  ["utf-16le", "utf-16le", `\ufeff${german}`, "schönes", "grünes ☃"],
  ["utf-16be", "utf-16be", `\ufeff${japanese}`, "カタカナ", "漢字"],
])("a file in %s", (encoding, found, content, old, added) => {
  const original = iconv.encode(content, encoding, { addBOM: false });

  it("is read as text", async () => {
    fixture.write("f.txt", original);
    const said = await server.says("read_file", { path: "f.txt" });
    expect(said.split("\n")[0]).toContain(` · ${found} · `);
    expect(said.split("\n").slice(1)).toEqual(
      content
        .replace("\ufeff", "")
        .split("\n")
        .slice(0, -1)
        .map((text, i) => `${i + 1}: ${text}`),
    );
  });

  it("is edited, and differs only in the edit", async () => {
    fixture.write("f.txt", original);
    await server.says("edit_file", { path: "f.txt", edits: [{ old, new: added }] });
    expect(fixture.bytes("f.txt")).toEqual(
      iconv.encode(content.replace(old, added), encoding, { addBOM: false }),
    );
  });

  it("is replaced in, patched and appended to", async () => {
    fixture.write("f.txt", original);
    await server.says("replace_in_files", { paths: ["f.txt"], old, new: added });
    await server.says("write_file", { path: "f.txt", content: "end\n", mode: "append" });
    expect(fixture.bytes("f.txt")).toEqual(
      iconv.encode(`${content.replace(old, added)}end\n`, encoding, { addBOM: false }),
    );
    const lines = content.replace("\ufeff", "").split("\n");
    const patch = `*** Begin Patch\n*** Update File: f.txt\n@@\n-${lines[2]}\n+last\n*** End Patch`;
    fixture.write("f.txt", original);
    await server.says("apply_patch", { patch });
    expect(fixture.bytes("f.txt")).toEqual(
      iconv.encode(content.replace(lines[2] ?? "", "last"), encoding, { addBOM: false }),
    );
  });
});

describe("an encoding that cannot be detected", () => {
  it("is named by the caller: short files have too few letters to detect it", async () => {
    fixture.write("s.txt", iconv.encode("né\n", "latin1"));
    expect(await server.says("read_file", { path: "s.txt" })).toContain(
      "some bytes are not text: name its encoding",
    );
    expect(await server.says("read_file", { path: "s.txt", encoding: "latin1" })).toMatch(/\n1: né$/);
    await server.says("edit_file", {
      path: "s.txt",
      encoding: "latin1",
      edits: [{ old: "né", new: "né à" }],
    });
    expect(fixture.bytes("s.txt")).toEqual(iconv.encode("né à\n", "latin1"));
  });

  it("is kept byte for byte around an edit", async () => {
    fixture.write(
      "s.txt",
      Buffer.concat([Buffer.from("ab\n"), Buffer.from([0xe9, 0xff, 10]), Buffer.from("cd\n")]),
    );
    await server.says("edit_file", { path: "s.txt", edits: [{ old: "cd", new: "CD" }] });
    expect(fixture.bytes("s.txt")).toEqual(
      Buffer.concat([Buffer.from("ab\n"), Buffer.from([0xe9, 0xff, 10]), Buffer.from("CD\n")]),
    );
  });

  it("refuses characters that it cannot hold", async () => {
    fixture.write("s.txt", iconv.encode(german, "latin1"));
    const lines = await server.refuses("edit_file", {
      path: "s.txt",
      encoding: "windows-1252",
      edits: [{ old: "schönes", new: "☃" }],
    });
    expect(lines[0]).toMatch(/^unencodable: "☃" \(line 2\)/);
    expect(fixture.bytes("s.txt")).toEqual(iconv.encode(german, "latin1"));
  });

  it("a search shows lines of old encodings as text", async () => {
    fixture.reset({ "s.txt": iconv.encode(german, "latin1") });
    expect(await server.says("search_text", { pattern: "llt sch" })).toMatch(/\n2: fällt schönes Öl,\n/);
  });

  it.each([
    ["a look-ahead", { pattern: "schönes (?=Öl)" }],
    ["a look-behind", { pattern: "(?<=fällt )schö" }],
    ["a back-reference", { pattern: "(ü)\\S*g und s\\1" }],
    ["inline flags", { pattern: "(?i)WÜRZIG" }],
    ["a line break", { pattern: "schönes Öl,\nwürzig", multiline: true }],
    ["a line break in an expression", { pattern: "Ö.,\\nw", multiline: true }],
    ["a line break and a look-ahead", { pattern: "Öl(?=,\\nw)", multiline: true }],
  ])("a search with %s finds them in every encoding", async (_, params) => {
    fixture.reset({
      "latin.txt": iconv.encode(german, "latin1"),
      "other.txt": iconv.encode("garçon, élève\n", "latin1"),
      "binary.bin": Buffer.from([0, 1, 2, 255, 254, 10, 0, 200]),
      "utf8.txt": german,
      "wide-be.txt": iconv.encode(german, "utf16be", { addBOM: false }),
      "wide-le.txt": iconv.encode(german, "utf16le", { addBOM: false }),
    });
    const found = ["latin.txt", "utf8.txt", "wide-be.txt", "wide-le.txt"];
    expect(await server.says("search_text", { ...params, output: "files" })).toBe(
      `${found.join("\n")}\n[4 files]`,
    );
    for (const path of found)
      expect(await server.says("search_text", { ...params, path })).toMatch(/\n2: fällt|\n3: würzig/);
  });
});

/** Each way to put text into a file that is there, without naming an encoding. */
const ways: [string, (path: string, text: string) => [string, Record<string, unknown>]][] = [
  ["an edit of lines", (path, text) => ["edit_file", { path, edits: [{ insert_after: 0, new: text }] }]],
  ["an edit of text", (path, text) => ["edit_file", { path, edits: [{ old: "one", new: text }] }]],
  ["appending", (path, content) => ["write_file", { path, content, mode: "append" }]],
  ["overwriting", (path, content) => ["write_file", { path, content }]],
  ["replacing in files", (path, text) => ["replace_in_files", { paths: [path], old: "one", new: text }]],
  [
    "a patch",
    (path, text) => [
      "apply_patch",
      { patch: `*** Begin Patch\n*** Update File: ${path}\n@@\n-one\n+${text}\n*** End Patch` },
    ],
  ],
];

describe("a file whose encoding is not certain", () => {
  const samples: [string, string][] = [
    ["iso-8859-15", "one\nmon cœur, né à Noël\n"],
    ["windows-1250", "one\nPříliš žluťoučký kůň\n"],
    ["iso-8859-2", "one\nŻółta łódź\n"],
    ["windows-1253", "one\nκαλημέρα κόσμε\n"],
    ["windows-1252", "one\ncafé\n"],
  ];

  it.each(samples)("says so and names %s as a likely one", async (encoding, content) => {
    fixture.reset({ "f.txt": iconv.encode(content, encoding) });
    const [head = ""] = (await server.says("read_file", { path: "f.txt" })).split("\n");
    expect(head).toMatch(/encoding not certain: /);
    expect(head).toContain(encoding);
    expect(await server.says("file_info", { path: "f.txt" })).toMatch(
      new RegExp(`encoding: .*not certain .*${encoding}`),
    );
  });

  it.each(ways)("takes no new text beyond ASCII by %s, and keeps its bytes", async (_, call) => {
    for (const [encoding, content] of samples) {
      const original = iconv.encode(content, encoding);
      fixture.reset({ "f.txt": original });
      const [tool, params] = call("f.txt", "naïve");
      const [first = "", advice = ""] = await server.refuses(tool, params);
      expect(first).toMatch(/^unencodable: "ï" /);
      const takesEncoding = tool === "edit_file" || tool === "write_file";
      expect(advice.startsWith("Use edit_file or write_file with encoding")).toBe(!takesEncoding);
      expect(first).toContain(encoding);
      expect(fixture.bytes("f.txt")).toEqual(original);
      await server.says(...call("f.txt", "plain"));
      expect(fixture.bytes("f.txt").includes("plain")).toBe(true);
    }
  });

  it("stays readable after an edit that adds a sign such as ¼, for every tool", async () => {
    fixture.reset({ "f.txt": iconv.encode("Größe der Tür\ntwo\nschön\n", "latin1") });
    const edits = [{ old: "two", new: "1¼ Zoll ± ½" }];
    await server.says("edit_file", { path: "f.txt", encoding: "windows-1252", edits });
    expect(await server.says("read_file", { path: "f.txt" })).toMatch(
      / · windows-1252 · .*\n1: Größe der Tür\n2: 1¼ Zoll ± ½\n3: schön$/,
    );
    expect(await server.says("file_info", { path: "f.txt" })).toContain(
      "encoding: windows-1252, not certain",
    );
    expect(await server.says("search_text", { pattern: "1¼" })).toContain("\n2: 1¼ Zoll ± ½\n");
    expect(await server.says("search_text", { pattern: "Gr[öo]ße" })).toContain("\n1: Größe der Tür\n");
    await server.says("edit_file", { path: "f.txt", edits: [{ old: "1¼ Zoll ± ½", new: "1¼" }] });
    expect(fixture.bytes("f.txt")).toEqual(iconv.encode("Größe der Tür\n1¼\nschön\n", "latin1"));
  });

  it.each([
    ["plain text", { pattern: "Größe" }],
    ["an expression", { pattern: "Gr[ö]ße" }],
    ["a look-ahead", { pattern: "Grö(?=ße)" }],
    ["one file", { pattern: "Größe", path: "f.txt" }],
  ])("is named by a search for %s that may miss it", async (_, params) => {
    const note = "[f.txt may hold more: encoding not certain; read_file with encoding shows the text]";
    const files = { "f.txt": iconv.encode("Größe\n", "latin1"), "other.txt": "plain\n" };
    fixture.reset(files);
    expect(await server.says("search_text", params)).toBe(`[no matches]\n${note}`);
    // A second search of a tree takes another way.
    expect(await server.says("search_text", params)).toBe(`[no matches]\n${note}`);
    if ("path" in params) return;
    fixture.reset({ ...files, "utf8.txt": "Größe\n" });
    const said = await server.says("search_text", params);
    expect(said).toContain("\n1: Größe\n");
    expect(said.endsWith(note), said).toBe(true);
    expect(await server.says("search_text", { pattern: "nothing" })).toBe("[no matches]");
  });

  it("is named by a search of it, where it is read in another encoding than it has", async () => {
    fixture.reset({ "f.txt": iconv.encode("one\nŻółta łódź\n", "iso-8859-2") });
    const note = "[f.txt may hold more: encoding not certain; read_file with encoding shows the text]";
    for (const pattern of ["łódź", "ł[ó]dź", "ł(?=ó)"]) {
      const said = await server.says("search_text", { pattern, path: "f.txt" });
      expect(said).toBe(`[no matches]\n${note}`);
    }
    for (const pattern of ["one", "nothing"])
      expect(await server.says("search_text", { pattern, path: "f.txt" })).not.toContain(note);
  });

  it("says to name the encoding where text beyond ASCII is not found", async () => {
    fixture.reset({ "f.txt": iconv.encode("Größe\n", "latin1") });
    const edits = [{ old: "Größe", new: "Maß" }];
    const refused = await server.refuses("edit_file", { path: "f.txt", edits });
    expect(refused.at(-1)).toBe("[some bytes are not text: name the file's encoding with encoding]");
  });

  it("accepts the text once the encoding is named", async () => {
    fixture.reset({ "f.txt": iconv.encode("one\nmon cœur\n", "iso-8859-15") });
    const edits = [{ old: "one", new: "sœur" }];
    await server.says("edit_file", { path: "f.txt", encoding: "iso-8859-15", edits });
    expect(fixture.bytes("f.txt")).toEqual(iconv.encode("sœur\nmon cœur\n", "iso-8859-15"));
  });

  it("keeps characters that an edit carries along", async () => {
    fixture.reset({ "f.txt": iconv.encode(german, "latin1") });
    const edits = [{ old: "fällt schönes Öl", new: "fällt ganz schönes Öl" }];
    await server.says("edit_file", { path: "f.txt", edits });
    const made = german.replace("schönes", "ganz schönes");
    expect(fixture.bytes("f.txt")).toEqual(iconv.encode(made, "latin1"));
  });
});

describe("an encoding that a caller names wrongly", () => {
  const russian = "Это обычный русский текст, который нужен для проверки.\n".repeat(3);
  const cases: [string, Buffer, string][] = [
    ["UTF-8 as windows-1251", Buffer.from("naïve café\n"), "windows-1251"],
    ["windows-1252 as UTF-8", iconv.encode("naïve café\n", "latin1"), "utf-8"],
    ["windows-1251 as KOI8-R", iconv.encode(russian, "windows-1251"), "koi8-r"],
    ["UTF-16 as windows-1252", Buffer.from("\ufeffplain\n", "utf16le"), "windows-1252"],
    ["UTF-8 with a mark as windows-1252", Buffer.from("\ufeffplain\n"), "windows-1252"],
  ];
  it.each(cases)("adds no second encoding to the file: %s", async (_, bytes, encoding) => {
    for (const content of ["é\n", "ж\n"]) {
      fixture.reset({ "f.txt": bytes });
      await server.refuses("write_file", { path: "f.txt", content, mode: "append", encoding });
      await server.refuses("edit_file", {
        path: "f.txt",
        edits: [{ insert_after: 0, new: content }],
        encoding,
      });
      expect(fixture.bytes("f.txt")).toEqual(bytes);
    }
  });

  it("adds no UTF-16 to an ASCII file", async () => {
    fixture.reset({ "f.txt": "plain\n" });
    const wide = { path: "f.txt", content: "more\n", mode: "append", encoding: "utf-16le" };
    await server.refuses("write_file", wide);
    expect(fixture.read("f.txt")).toBe("plain\n");
  });

  it("converts a file that is overwritten as a whole", async () => {
    fixture.reset({ "f.txt": iconv.encode("naïve café\n", "latin1") });
    await server.says("write_file", { path: "f.txt", content: "naïve\n", encoding: "utf-8" });
    expect(fixture.read("f.txt")).toBe("naïve\n");
  });
});

describe("a byte-order mark", () => {
  it.each([
    ["utf-8", "utf8"],
    ["utf-16le", "utf16le"],
  ] as const)("is kept, once, by whatever overwrites a file in %s", async (encoding, node) => {
    for (const content of ["new ☃\n", "\ufeffnew ☃\n"])
      for (const named of [{}, { encoding }]) {
        fixture.reset({ "f.txt": Buffer.from("\ufeffold\n", node) });
        await server.says("write_file", { path: "f.txt", content, ...named });
        expect(fixture.bytes("f.txt")).toEqual(Buffer.from("\ufeffnew ☃\n", node));
        const version = /v:[0-9a-f]{12}/.exec(await server.says("read_file", { path: "f.txt" }))?.[0];
        await server.says("write_file", {
          path: "f.txt",
          content: "\ufefflast\n",
          if_version: version,
          ...named,
        });
        expect(fixture.bytes("f.txt")).toEqual(Buffer.from("\ufefflast\n", node));
        const edits = [{ start_line: 1, end_line: 1, new: "\ufeffedited" }];
        await server.says("edit_file", { path: "f.txt", edits, ...named });
        expect(fixture.bytes("f.txt")).toEqual(Buffer.from("\ufeffedited\n", node));
      }
  });

  it("of UTF-32 is recognised: such a file is refused, never taken for UTF-16", async () => {
    const wide = Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0, 0x0a, 0, 0, 0]);
    for (const bytes of [wide, Buffer.from(wide).swap32()]) {
      fixture.reset({ "f.txt": bytes });
      for (const encoding of [{}, { encoding: "utf-16le" }]) {
        const [first] = await server.refuses("read_file", { path: "f.txt", ...encoding });
        expect(first).toBe("binary: f.txt is utf-32 text, which is not supported");
        await server.refuses("edit_file", { path: "f.txt", edits: [{ old: "a", new: "b" }], ...encoding });
      }
      expect(await server.says("file_info", { path: "f.txt" })).toContain("encoding: utf-32");
      expect(fixture.bytes("f.txt")).toEqual(bytes);
    }
  });
});
