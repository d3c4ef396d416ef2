// Nothing is too large: parts of huge files come at once, and what would not fit is cut, or refused, with a word.
import { appendFileSync, mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fixture } from "./fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.open();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const megabyte = 1024 * 1024;

describe("a line of 50 MB", () => {
  beforeAll(() => fixture.write("line.txt", `${"é".repeat(25 * megabyte)}\nlast\n`));

  it("is cut by head, between two characters, and the answer says so", async () => {
    const answer = await fixture.says("read_text_file", { path: fixture.path("line.txt"), head: 1 });
    expect(answer).toMatch(/^é{524288}\n\n\[cut: 1 MB of these lines are shown; the file has 50 MB\]$/);
  });

  it("is cut by tail from its end", async () => {
    const answer = await fixture.says("read_text_file", { path: fixture.path("line.txt"), tail: 3 });
    expect(answer).toMatch(/^\[cut: 1 MB [^\]]*\]\n\né+\nlast\n$/);
    expect(await fixture.says("read_text_file", { path: fixture.path("line.txt"), tail: 2 })).toBe("last\n");
  });

  it("is refused as a whole, with what to do instead, also among other files", async () => {
    const refusal = /^File too large: .*line\.txt has \d+ bytes; .* Read a part of it with head or tail\.$/;
    expect(await fixture.fails("read_text_file", { path: fixture.path("line.txt") })).toMatch(refusal);
    expect(await fixture.fails("edit_file", fixture.edit("line.txt", "last", "x"))).toMatch(refusal);
    fixture.write("small.txt", "small");
    const paths = [fixture.path("line.txt"), fixture.path("small.txt")];
    const [large, small] = (await fixture.says("read_multiple_files", { paths })).split("\n---\n");
    expect(large).toMatch(/line\.txt: Error - File too large/);
    expect(small).toBe(`${paths[1]}:\nsmall\n`);
  });
});

describe("a file of 300 MB", () => {
  beforeAll(() => {
    fixture.write("huge.txt", "first\nsecond\n");
    truncateSync(fixture.path("huge.txt"), 300 * megabyte);
    appendFileSync(fixture.path("huge.txt"), "\nbefore\nlast");
  });

  it("shows its first and its last lines", async () => {
    const path = fixture.path("huge.txt");
    expect(await fixture.says("read_text_file", { path, head: 2 })).toBe("first\nsecond");
    expect(await fixture.says("read_text_file", { path, tail: 2 })).toBe("before\nlast");
  });
});

describe("the last lines", () => {
  const tail = async (bytes: Buffer, count: number) => {
    writeFileSync(fixture.path("tail.txt"), bytes);
    return await fixture.says("read_text_file", { path: fixture.path("tail.txt"), tail: count });
  };

  it("are read in the encoding that the beginning of the file shows", async () => {
    const french = Buffer.from(`${"déjà été à côté\r\n".repeat(40_000)}fini\r\nçà\r\nend\r\n`, "latin1");
    expect(await tail(french, 3)).toBe("çà\nend\n");
    expect(await tail(french, 2)).toBe("end\n");
    const wide = Buffer.from(`\ufeff${"line\n".repeat(40_000)}last\r\nend`, "utf16le");
    expect(await tail(wide, 2)).toBe("last\nend");
    expect(await tail(Buffer.from(wide).swap16(), 2)).toBe("last\nend");
    expect(await tail(wide.subarray(2), 2)).toBe("last\nend");
  });

  it("are the whole file if it has fewer", async () => {
    expect(await tail(Buffer.from("one\ntwo\n"), 3)).toBe("one\ntwo\n");
    expect(await tail(Buffer.from("one\ntwo\n"), 2)).toBe("two\n");
    expect(await tail(Buffer.from("one\ntwo\n"), 1)).toBe("");
    expect(await tail(Buffer.from("one"), 9)).toBe("one");
    expect(await tail(Buffer.alloc(0), 9)).toBe("");
  });
});

describe("a tree with more names than an answer holds", () => {
  beforeAll(() => {
    mkdirSync(fixture.path("wide/many"), { recursive: true });
    mkdirSync(fixture.path("wide/other/deep/er"), { recursive: true });
    for (let i = 0; i < 4400; i++)
      writeFileSync(fixture.path(`wide/many/${String(i).padStart(5, "0")}${"n".repeat(240)}`), "");
    fixture.write("wide/z.txt", "");
  });

  it("is cut where it is deepest, and stays JSON", async () => {
    const answer = await fixture.says("directory_tree", { path: fixture.path("wide") });
    expect(answer.length).toBeLessThan(1.1 * megabyte);
    const tree = JSON.parse(answer);
    expect(tree.map(({ name }: { name: string }) => name).slice(0, 3)).toEqual(["many", "other", "z.txt"]);
    expect(tree.at(-1)).toEqual({
      name: expect.stringMatching(/^… cut after \d+ entries: .*excludePatterns/),
      type: "truncated",
    });
    expect(tree[0].children.at(-1)).toEqual({ name: "…", type: "truncated" });
    expect(tree[0].children.length).toBeGreaterThan(2000);
    expect(tree[1].children).toEqual([{ name: "…", type: "truncated" }]);
  });

  it("is complete with fewer entries", async () => {
    const params = { path: fixture.path("wide"), excludePatterns: ["many"] };
    const children = [
      { name: "deep", type: "directory", children: [{ name: "er", type: "directory", children: [] }] },
    ];
    expect(JSON.parse(await fixture.says("directory_tree", params))).toEqual([
      { name: "other", type: "directory", children },
      { name: "z.txt", type: "file" },
    ]);
  });

  it("is listed and searched up to the size limit", async () => {
    const listing = await fixture.says("list_directory", { path: fixture.path("wide/many") });
    expect(listing).toMatch(/\n\n\[cut: \d+ of 4400 entries; [^\]]*\]$/);
    const found = await fixture.says("search_files", { path: fixture.path("wide"), pattern: "**" });
    expect(found).toMatch(/\n\n\[cut after \d+ matches: [^\]]*\]$/);
    const sizes = await fixture.says("list_directory_with_sizes", { path: fixture.path("wide/many") });
    expect(sizes).toMatch(
      /\n\n\[cut: \d+ of 4400 entries\]\n\nTotal: 4400 files, 0 directories\nCombined size: 0 B$/,
    );
  });
});
