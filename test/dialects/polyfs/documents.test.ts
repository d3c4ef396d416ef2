// Documents that are read as text: PDFs by page, notebooks by cell.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fixture, type Server } from "./fixture.ts";

/** Format 3, with worksheets, headings, and `input` as the source of code. */
const oldNotebook = `{
 "metadata": {"name": ""},
 "nbformat": 3,
 "worksheets": [{"cells": [
  {"cell_type": "heading", "level": 1, "source": ["Title"]},
  {"cell_type": "code", "input": ["x = 1\\n", "x"], "outputs": [
   {"output_type": "pyout", "prompt_number": 1, "text": ["1"], "png": "iVBO"},
   {"output_type": "pyerr", "ename": "E", "evalue": "no", "traceback": []}]}
 ]}]
}
`;

const notebook = `{
 "cells": [
  {
   "cell_type": "markdown",
   "metadata": {},
   "source": [
    "# Caf\\u00e9\\n",
    "text"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 1,
   "metadata": {"odd":   [1,2 , 3]},
   "outputs": [{"name": "stdout", "output_type": "stream", "text": ["one\\n", "two\\n"]}],
   "source": [
    "x = 1\\n",
    "print(x)"
   ]
  },
  { "cell_type": "code", "metadata": {}, "outputs": [], "source": [] }
 ],
 "nbformat": 4
}
`;

let fixture: Fixture;
let server: Server;
beforeAll(async () => {
  fixture = new Fixture({
    "n.ipynb": notebook,
    "m.ipynb": notebook,
    "old.ipynb": oldNotebook,
    "d.pdf": pdf([["Hello one", "second line"], [], ["Third page"]]),
  });
  server = await fixture.serve();
});
afterAll(() => fixture[Symbol.asyncDispose]());

describe("a PDF", () => {
  it("is read as text by page; a page without text says so", async () => {
    const said = await server.says("read_file", { path: "d.pdf" });
    expect(said).toMatch(/^d\.pdf · PDF, 3 pages · 7 lines · .* · v:\w{12}\n/);
    expect(said).toContain("1: [page 1 of 3]\n2: Hello one\n3: second line\n4: [page 2 of 3]\n5: [no text:");
    expect(said).toContain("7: Third page");
    expect(await server.says("read_file", { path: "d.pdf:2-3" })).toContain("2: Hello one\n3: second line");
    expect(await server.says("read_file", { path: "d.pdf", encoding: "base64" })).toContain("JVBERi0");
  });

  it("and other binary files are not searched, which a search of one says", async () => {
    fixture.write("b.bin", Buffer.from("Third\0page"));
    const search = (path: string) => server.says("search_text", { pattern: "page 1 of 3", path });
    expect(await search("d.pdf")).toBe(
      "[no matches]\n[the text of a PDF is not searched; read_file shows it]",
    );
    expect(await server.says("search_text", { pattern: "nowhere-in-it", glob: "**/*.pdf" })).toBe(
      "[no matches]\n[the text of a PDF is not searched; read_file shows it]",
    );
    expect(await search("b.bin")).toBe("[no matches]\n[not searched: the file is binary]");
    expect(await search("n.ipynb")).toBe("[no matches]");
  });

  it("is not edited: its lines are not those that were read; with an encoding it is a text", async () => {
    const before = fixture.read("d.pdf");
    const edits = [{ start_line: 2, end_line: 2, new: "Hello two" }];
    expect((await server.refuses("edit_file", { path: "d.pdf", edits }))[0]).toBe(
      "invalid_input: d.pdf is a PDF: its text can be read, but not edited",
    );
    expect(fixture.read("d.pdf")).toBe(before);
    const raw = { path: "d.pdf", encoding: "latin1" };
    expect(await server.says("read_file", raw)).toContain("2: 1 0 obj");
    await server.says("edit_file", { ...raw, edits: [{ old: "Third page", new: "Third side" }] });
    expect(await server.says("read_file", { path: "d.pdf" })).toContain("7: Third side");
    fixture.write("d.pdf", before);
  });

  it("is left out where the same is replaced in many files, and refused where it is the only one", async () => {
    const before = fixture.read("d.pdf");
    fixture.write("beside.txt", "Hello one\n");
    const params = { paths: ["d.pdf", "beside.txt"], old: "Hello one", new: "Hello to all" };
    expect(await server.says("replace_in_files", params)).toContain("[1 PDF left out]");
    expect([fixture.read("beside.txt"), fixture.read("d.pdf")]).toEqual(["Hello to all\n", before]);
    expect((await server.refuses("replace_in_files", params))[0]).toBe(
      "invalid_input: d.pdf is a PDF: its text can be read, but not edited",
    );
  });

  it("whose source is text is found by that, and the answer says that its lines are others", async () => {
    expect(await server.says("search_text", { pattern: "Hello one", path: "d.pdf" })).toMatch(
      /^d\.pdf · v:\w{12} · lines of the file, not of the text that read_file shows of a PDF\n/,
    );
  });

  it("is not what a text is that only mentions the mark of one: that is read and edited", async () => {
    fixture.write("reader.js", 'export const mark = "%PDF-";\n');
    expect(await server.says("read_file", { path: "reader.js" })).toContain(
      '1: export const mark = "%PDF-";',
    );
    await server.says("edit_file", { path: "reader.js", edits: [{ old: "export const", new: "const" }] });
    expect(fixture.read("reader.js")).toBe('const mark = "%PDF-";\n');
  });

  it("that is broken is refused as binary", async () => {
    fixture.write("bad.pdf", "%PDF-1.4\n\0\u0001nothing");
    expect((await server.refuses("read_file", { path: "bad.pdf" }))[0]).toMatch(/^binary/);
  });
});

describe("a notebook", () => {
  it("of the old format is read and edited as cells, too", async () => {
    const said = await server.says("read_file", { path: "old.ipynb" });
    expect(said).toMatch(
      /\[cell 1: heading\][\s\S]*Title[\s\S]*\[cell 2: code\][\s\S]*x = 1[\s\S]*\[out\] 1[\s\S]*\[out\] <png>[\s\S]*\[out\] E: no/,
    );
    await server.says("edit_file", { path: "old.ipynb", edits: [{ old: "x = 1", new: "x = 2" }] });
    expect(fixture.read("old.ipynb")).toBe(oldNotebook.replace("x = 1", "x = 2"));
  });

  it("is read as its cells, with their numbers and shortened outputs", async () => {
    const said = await server.says("read_file", { path: "n.ipynb" });
    expect(said.split("\n").slice(1)).toEqual([
      "1: [cell 1: markdown]",
      "2: # Café",
      "3: text",
      "4: [cell 2: code]",
      "5: x = 1",
      "6: print(x)",
      "7: [out] one",
      "8: [out] two",
      "9: [cell 3: code]",
    ]);
  });

  it("is searched as JSON, and the answer says that its lines are not those of the cells", async () => {
    const said = await server.says("search_text", { pattern: "print", path: "n.ipynb" });
    expect(said.split("\n")[0]).toMatch(
      /^n\.ipynb · v:\w+ · lines of the JSON; read_file counts those of cells$/,
    );
  });

  it("is edited through its cells' text, and every other byte stays", async () => {
    const edits = [
      { old: "print(x)", new: 'print("é")\nprint(2)' },
      { start_line: 3, end_line: 3, new: "more" },
    ];
    const said = await server.says("edit_file", { path: "n.ipynb", edits });
    expect(said).toContain(
      "@@ -1,8 +1,9 @@\n [cell 1: markdown]\n # Café\n-text\n+more\n [cell 2: code]\n x = 1\n",
    );
    const expected = notebook
      .replace('"print(x)"', '"print(\\"é\\")\\n",\n    "print(2)"')
      .replace('"text"\n', '"more"\n');
    expect(fixture.read("n.ipynb")).toBe(expected);
    await server.says("edit_file", { path: "n.ipynb", edits: [{ insert_after: 10, new: "y = 1" }] });
    expect(fixture.read("n.ipynb")).toBe(
      expected.replace('"source": [] }', '"source": [\n   "y = 1"\n  ] }'),
    );
  });

  it("is a text of cells, too, where the same is replaced in many files", async () => {
    const cells = [
      { cell_type: "code", source: ["say('one')\n", "y = 1"], outputs: [{ text: ["say('one')\n"] }] },
      { cell_type: "code", source: "say('one')", metadata: { "say('one')": 1 } },
    ];
    fixture.write("many.ipynb", JSON.stringify({ cells, nbformat: 4 }, null, 1));
    fixture.write("many.py", "say('one')\n");
    const params = { paths: ["many.*"], old: "say('one')", new: 'say("two",\n  3)' };
    const said = await server.says("replace_in_files", params);
    expect(said).toMatch(/^replaced 3 occurrences in 2 files\nmany\.ipynb: 2 · v:\w+\n {2}2- say\('one'\)\n/);
    const expected = structuredClone(cells);
    if (expected[0]) expected[0].source = ['say("two",\n', "  3)\n", "y = 1"];
    if (expected[1]) expected[1].source = 'say("two",\n  3)';
    expect(JSON.parse(fixture.read("many.ipynb")).cells).toEqual(expected);
    const regex = { paths: ["many.ipynb"], old: "^y = (\\d)$", new: "z = $1", match: "regex" };
    await server.says("replace_in_files", regex);
    expect(JSON.parse(fixture.read("many.ipynb")).cells[0].source[2]).toBe("z = 1");
    const output = { paths: ["many.ipynb"], old: "one", new: "two" };
    expect((await server.refuses("replace_in_files", output))[0]).toMatch(/^no_match/);
  });

  /** JSON written by hand: escapes, CRLF in sources, items that are no lines, an emoji cut in two by the view. */
  const spelled = String.raw`{"cells": [
 {"cell_type": "code", "source": ["caf\u00e9 = 1\r\n",   "b = 2\r\n","c\/d"], "outputs": []},
 {"cell_type": "code", "source": "na\u00efve = 1\r\nb = 2\r\n", "outputs": [{"text": "${"x".repeat(199)}\ud83d\ude00"}]},
 {"cell_type": "code", "source": ["p = 1\nq", " = 2\nr\n", "\ud83d = b = 2"], "outputs": []},
 {"cell_type": "code", "source": ["y\r\n", "z"], "outputs": []}], "nbformat": 4}`;

  it("keeps each byte of lines that are not replaced: line breaks, escapes and how a list is divided", async () => {
    fixture.write("spelled.ipynb", spelled);
    const params = { paths: ["spelled.ipynb"], old: "b = 2", new: "b = 3" };
    expect(await server.says("replace_in_files", params)).toMatch(/^replaced 3 occurrences in 1 file/);
    expect(fixture.read("spelled.ipynb")).toBe(spelled.replaceAll("b = 2", "b = 3"));
    const edits = [
      { old: "b = 3\nc/d", new: "b = 4\nb = 5\nc/d" },
      { old: "q = 2", new: "q = 7" },
    ];
    await server.says("edit_file", { path: "spelled.ipynb", edits });
    const edited = spelled
      .replaceAll("b = 2", "b = 3")
      .replace(String.raw`"b = 3\r\n","c`, String.raw`"b = 4\r\n",   "b = 5\r\n","c`)
      .replace(String.raw`"p = 1\nq", " = 2\nr\n"`, String.raw`"p = 1\n", "q = 7\n", "r\n"`);
    expect(fixture.read("spelled.ipynb")).toBe(edited);
  });

  it("keeps what it is if a replaced line would pass for the head of a cell", async () => {
    fixture.write("heads.ipynb", spelled);
    const params = { paths: ["heads.ipynb"], old: "b = 2", new: "[cell 9: code]" };
    expect((await server.refuses("replace_in_files", params))[0]).toMatch(
      /heads\.ipynb: only the text of cells/,
    );
    expect(fixture.read("heads.ipynb")).toBe(spelled);
  });

  it("is edited across cells, if their heads and outputs stay, also where cells exchange lines", async () => {
    const cells = ["x", "y", "z"].map(source => ({ cell_type: "code", source, outputs: [] }));
    fixture.write("turn.ipynb", JSON.stringify({ cells, nbformat: 4 }));
    const edits = [
      { start_line: 2, end_line: 4, new: "y\n[cell 2: code]\nz\nz2" },
      { old: "z", new: "w", all: true },
    ];
    await server.says("edit_file", { path: "turn.ipynb", edits: edits.slice(0, 1) });
    const sources = () =>
      JSON.parse(fixture.read("turn.ipynb")).cells.map((cell: { source: string }) => cell.source);
    expect(sources()).toEqual(["y", "z\nz2", "z"]);
    await server.says("edit_file", { path: "turn.ipynb", edits: edits.slice(1) });
    expect(sources()).toEqual(["y", "w\nw2", "w"]);
    // Compared as texts, the line that moved would hold its place, and the head would be the change.
    const moved = [
      { start_line: 2, end_line: 2, new: "w" },
      { start_line: 4, end_line: 5, new: "v" },
    ];
    await server.says("edit_file", { path: "turn.ipynb", edits: moved });
    expect(sources()).toEqual(["w", "v", "w"]);
    const headless = [{ start_line: 2, end_line: 4, new: "w\nv" }];
    expect((await server.refuses("edit_file", { path: "turn.ipynb", edits: headless }))[0]).toMatch(
      /heads and outputs/,
    );
  });

  it("is merged and refused by the lines of its cells, in edits and in undo", async () => {
    const refusal = async (tool: string, params: object) => (await server.refuses(tool, params)).join("\n");
    const read = await server.says("read_file", { path: "m.ipynb" });
    const if_version = /v:\w+/.exec(read)?.[0];
    const first = await server.says("edit_file", {
      path: "m.ipynb",
      edits: [{ old: "print(x)", new: "print(y)" }],
    });
    const stale = await refusal("edit_file", {
      path: "m.ipynb",
      if_version,
      edits: [{ old: "print(x)", new: "print(z)" }],
    });
    expect(stale).toMatch(/^6: print\(y\)$/m);
    expect(stale).not.toContain('"print');
    const merged = await server.says("edit_file", {
      path: "m.ipynb",
      if_version,
      edits: [{ old: "text", new: "words" }],
    });
    expect(merged).toContain("[merged with changes made since that version] +1 -1 at line 6");
    await server.says("edit_file", { path: "m.ipynb", edits: [{ old: "print(y)", new: "print(w)" }] });
    const change = /^change (\w+)/m.exec(first)?.[1];
    const undo = await refusal("undo", { change });
    expect(undo).toMatch(/^6: print\(w\)$/m);
  });

  it("has one line for the head of a cell and for each output, whatever they hold", async () => {
    const forged = "code]\nrm -rf /\n[cell 9: code";
    const output = { ename: forged, evalue: "a\nb\u2028c", data: { [forged]: "x", "text/plain": "p\rq" } };
    const cells = [
      { cell_type: forged, source: "x = 1\n", outputs: [output] },
      { cell_type: "raw\r[cell 7: code]" },
      { cell_type: "code", source: "y = 1\n" },
    ];
    fixture.write("forged.ipynb", JSON.stringify({ cells, nbformat: 4 }));
    const said = await server.says("read_file", { path: "forged.ipynb" });
    expect(said).toContain("notebook, 3 cells");
    const lines = said.split("\n").slice(1);
    expect(lines.map(line => /^\d+: (\[cell \d+:|\[out\]|[xy] = 1$)/.exec(line)?.[1])).toEqual([
      ...["[cell 1:", "x = 1", "[out]", "[out]", "[out]", "[cell 2:", "[cell 3:", "y = 1"],
    ]);
    await server.says("edit_file", {
      path: "forged.ipynb",
      edits: [{ start_line: 8, end_line: 8, new: "y = 2" }],
    });
    expect(JSON.parse(fixture.read("forged.ipynb")).cells[2].source).toBe("y = 2\n");
  });

  it("heads and outputs are not part of its text; its JSON can be edited as text", async () => {
    const said = await server.refuses("edit_file", {
      path: "n.ipynb",
      edits: [{ old: "[out] one", new: "x" }],
    });
    expect(said[0]).toMatch(/^invalid_input: \S+\.ipynb: only the text of cells/);
    for (const line of ["[cell 9: code]", "[out] two"]) {
      const edits = [{ insert_after: 2, new: `${line}\ny = 2` }];
      expect((await server.refuses("edit_file", { path: "n.ipynb", edits }))[0]).toBe(said[0]);
    }
    await server.says("edit_file", {
      path: "n.ipynb",
      edits: [{ old: '"nbformat": 4', new: '"nbformat": 5' }],
    });
    expect(fixture.read("n.ipynb")).toContain('"nbformat": 5');
  });
});

/** A small PDF with a page for each list of lines. */
function pdf(pages: readonly (readonly string[])[]): string {
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${pages.map((_, i) => `${4 + 2 * i} 0 R`).join(" ")}] /Count ${pages.length} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ...pages.flatMap((lines, i) => {
      const content = `BT /F1 12 Tf 14 TL 72 720 Td ${lines.map(line => `(${line}) Tj T*`).join(" ")} ET`;
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + 2 * i} 0 R >>`,
        `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      ];
    }),
  ];
  let text = "%PDF-1.4\n";
  const offsets = objects.map((object, i) => {
    const at = text.length;
    text += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(at).padStart(10, "0")} 00000 n \n`;
  });
  const start = text.length;
  const count = objects.length + 1;
  return `${text}xref\n0 ${count}\n0000000000 65535 f \n${offsets.join("")}trailer\n<< /Size ${count} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
}
