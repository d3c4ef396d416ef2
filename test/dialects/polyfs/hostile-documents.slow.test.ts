// Documents that are made to fill the memory or to stop the server: a PDF that unpacks to hundreds of megabytes, notebooks with very
// many cells and lines. Each is read or refused, and other calls are answered meanwhile.
import { readFileSync } from "node:fs";
import { deflateSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fixture, type Server } from "./fixture.ts";

let fixture: Fixture;
let server: Server;
beforeAll(async () => {
  fixture = new Fixture({});
  server = await fixture.serve();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const mb = 1024 * 1024;

describe.skipIf(process.platform !== "linux")("a PDF with a stream that unpacks", () => {
  it("to 16 MB is read", async () => {
    fixture.write("large.pdf", pdf(deflateSync(pageText(16 * mb))));
    expect(await server.says("read_file", { path: "large.pdf" })).toContain("2: the text");
  });

  it("to 400 MB is refused, and the server never holds that much, however many are read at once", async () => {
    const stream = deflateSync(pageText(400 * mb), { level: 1 });
    const names = ["a.pdf", "b.pdf", "c.pdf"];
    for (const name of names) fixture.write(name, pdf(stream, `% ${name}`));
    const said = await Promise.all(names.map(path => server.refuses("read_file", { path })));
    for (const [first] of said) expect(first).toMatch(/^binary/);
    expect(peakMb(server.wire.child.pid)).toBeLessThan(900);
    expect(await server.says("list_directory")).toContain("a.pdf");
  });
});

describe("a notebook", () => {
  const cell = (source: string) => ({ cell_type: "code", metadata: {}, outputs: [], source });

  it("with 200,000 lines in a cell is read", async () => {
    fixture.write("long.ipynb", JSON.stringify({ cells: [cell("x\n".repeat(200_000))], nbformat: 4 }));
    expect(await server.says("read_file", { path: "long.ipynb", offset: -1 })).toContain("200001: x");
  });

  it("with 20,000 cells is edited in all of them, while other calls are answered", async () => {
    const count = 20_000;
    fixture.write("many.ipynb", JSON.stringify({ cells: Array(count).fill(cell("x")), nbformat: 4 }));
    const edits = [{ old: "^x$", new: "y", regex: true, all: true }];
    let done = false;
    const editing = server.says("edit_file", { path: "many.ipynb", edits }).then(() => {
      done = true;
    });
    let answered = 0;
    while (!done) {
      await server.says("list_roots");
      answered++;
    }
    await editing;
    // Where the edit blocks the server, the calls beside it are answered only when it is done.
    expect(answered).toBeGreaterThan(20);
    const { cells } = JSON.parse(fixture.read("many.ipynb")) as { cells: { source: string }[] };
    expect(cells.filter(({ source }) => source === "y").length).toBe(count);
  });
});

/** A content stream with a text at its start, and blanks. */
function pageText(size: number): Buffer {
  const bytes = Buffer.alloc(size, " ");
  bytes.write("BT /F1 12 Tf 72 720 Td (the text) Tj ET ");
  return bytes;
}

/** A PDF of one page; readers find the objects without a table. */
function pdf(stream: Buffer, comment = ""): Buffer {
  const head = `%PDF-1.4
${comment}
1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj
3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >> endobj
5 0 obj << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> endobj
4 0 obj << /Length ${stream.length} /Filter /FlateDecode >>
stream
`;
  return Buffer.concat([
    Buffer.from(head),
    stream,
    Buffer.from("\nendstream\nendobj\ntrailer << /Size 6 /Root 1 0 R >>\n%%EOF\n"),
  ]);
}

/** The most memory that a process ever had. */
function peakMb(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmHWM:\s*(\d+)/.exec(status)?.[1]) / 1024;
}
