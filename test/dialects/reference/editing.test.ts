// Edits and moves that lose nothing: other bytes stay, what is not clear is refused, and calls at the same time all
// count.
import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fixture } from "./fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.open();
});
afterAll(() => fixture[Symbol.asyncDispose]());

describe("an edit", () => {
  it("that could mean two places is refused with where they are, and changes nothing", async () => {
    fixture.write("a.txt", "same\nother\nsame\n");
    const refusal = await fixture.fails("edit_file", {
      path: fixture.path("a.txt"),
      edits: [
        { oldText: "other", newText: "changed" },
        { oldText: "same", newText: "x" },
      ],
    });
    expect(refusal).toMatch(/^Found 2 matches for edit \(lines 1, 3\)/);
    expect(fixture.read("a.txt")).toBe("same\nother\nsame\n");
    await fixture.says("edit_file", fixture.edit("a.txt", "other\nsame", "other\nx"));
    expect(fixture.read("a.txt")).toBe("same\nother\nx\n");
  });

  it("keeps every other line ending, and gives new lines those around them", async () => {
    fixture.write("mixed.txt", "one\r\ntwo\nthree\r\nfour\r\n");
    await fixture.says(
      "edit_file",
      fixture.edit("mixed.txt", "three\nfour\n", "3\n3½\n4\n".replace("½", ".5")),
    );
    expect(fixture.read("mixed.txt")).toBe("one\r\ntwo\n3\r\n3.5\r\n4\r\n");
  });

  it("keeps encodings and byte-order marks", async () => {
    const utf16 = (text: string) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, "utf16le")]);
    fixture.write("utf16.txt", utf16("größer\r\nkleiner\r\n"));
    await fixture.says("edit_file", fixture.edit("utf16.txt", "größer", "weiter"));
    expect(fixture.read("utf16.txt")).toBe(utf16("weiter\r\nkleiner\r\n").toString("latin1"));
    fixture.write("bom.txt", "\ufeffone\ntwo\n");
    await fixture.says("edit_file", fixture.edit("bom.txt", "one", "1"));
    expect(fixture.read("bom.txt")).toBe(Buffer.from("\ufeff1\ntwo\n").toString("latin1"));
  });

  it("that is written with spaces matches tabs", async () => {
    fixture.write("tabs.py", "def a():\n\tif x:\n\t\treturn x\n");
    const edit = fixture.edit(
      "tabs.py",
      "    if x:\n        return x",
      "    if x:\n        y = x\n        return y",
    );
    await fixture.says("edit_file", edit);
    expect(fixture.read("tabs.py")).toBe("def a():\n\tif x:\n\t\ty = x\n\t\treturn y\n");
  });

  it("whose indentation would be a guess is refused", async () => {
    fixture.write("yaml.yml", "a:\n  b:\n      c: 1\n");
    expect(await fixture.fails("edit_file", fixture.edit("yaml.yml", "b:\nc: 1", "b:\nc: 2"))).toBe(
      "Could not find exact match for edit:\nb:\nc: 1",
    );
  });
});

describe("calls at the same time", () => {
  it("edit one file through two servers, and no edit is lost", async () => {
    const other = await fixture.serve();
    const names = Array.from({ length: 40 }, (_, i) => `<${i}>`);
    fixture.write("many.txt", names.map(name => `${name}\n`).join(""));
    await Promise.all(
      names.map((name, i) =>
        fixture.says(
          "edit_file",
          fixture.edit("many.txt", name, `done ${name}`),
          i % 2 ? other : fixture.wire,
        ),
      ),
    );
    expect(fixture.read("many.txt")).toBe(names.map(name => `done ${name}\n`).join(""));
  });

  it("move two files to one path: one is moved, the other stays", async () => {
    for (let round = 0; round < 20; round++) {
      const [a, b, to] = [`a${round}`, `b${round}`, `to${round}`];
      fixture.write(a, "a");
      fixture.write(b, "b");
      const move = (name: string) =>
        fixture.call("move_file", { source: fixture.path(name), destination: fixture.path(to) });
      const results = await Promise.all([move(a), move(b)]);
      expect(results.filter(({ isError }) => isError)).toHaveLength(1);
      const left = [a, b].filter(name => existsSync(fixture.path(name)));
      expect(left).toHaveLength(1);
      expect([fixture.read(to), fixture.read(left[0] ?? "")].sort()).toEqual(["a", "b"]);
    }
  });
});
