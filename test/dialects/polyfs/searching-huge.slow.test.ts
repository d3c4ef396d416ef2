// A file that is too large to be decoded is searched as UTF-8, line by line, and never makes a search of others fail.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fixture, type Server } from "./fixture.ts";

let fixture: Fixture;
let server: Server;
beforeAll(async () => {
  const filler = `${"0123456789 ".repeat(9)}\n`.repeat(Math.ceil((65 * 1024 * 1024) / 100));
  fixture = new Fixture({
    "a.txt": "Größe\n",
    "huge.log": `${filler}Größe\nGräße\nbegin\nend\n`,
    "z.txt": "Größe\n",
  });
  server = await fixture.serve();
}, 60_000);
afterAll(() => fixture[Symbol.asyncDispose]());

describe("a search in a tree with a file of 65 MB", () => {
  const heads = /^\S+ · v:\w+$|^huge\.log$/gm;

  it.each([
    ["plain text beyond ASCII", { pattern: "Größe" }],
    ["a class beyond ASCII", { pattern: "Gr[ö]ße" }],
    ["a word", { pattern: "\\bGröße\\b" }],
  ])("finds %s, and no other lines", async (_, params) => {
    const said = await server.says("search_text", params);
    expect(said.match(heads)?.map(head => head.split(" ")[0])).toEqual(["a.txt", "huge.log", "z.txt"]);
    expect(said.match(/^\d+: .*/gm)?.map(line => line.replace(/^\d+/, ""))).toEqual(Array(3).fill(": Größe"));
    expect(said).toMatch(/\[3 matches in 3 files\]$/);
  });

  it("finds several lines", async () => {
    const said = await server.says("search_text", { pattern: "begin\\nend", multiline: true });
    expect(said).toMatch(/^huge\.log\n\d+: begin\n\d+: end\n/);
  });
});
