// Files in old encodings: read as text, edited, and different from the original only in the edit.
import iconv from "iconv-lite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Ground, type Server } from "./ground.ts";

let ground: Ground;
let server: Server;
beforeAll(async () => {
  ground = new Ground();
  server = await ground.serve();
});
afterAll(() => ground[Symbol.asyncDispose]());

const german = "Über die Größe\nfällt schönes Öl,\nwürzig und süß.\n";
const japanese = "これは日本語のテキストです。\nひらがなとカタカナがあります。\nおわりです。\n";
const chinese = "这是一个简体中文的文本文件，\n里面有很多常用的汉字和标点。\n最后一行就在这里。\n";

describe.each([
  ["latin1", "windows-1252", german, "schönes", "grünes"],
  ["shift_jis", "shift_jis", japanese, "カタカナ", "漢字"],
  ["gbk", "gb18030", chinese, "常用", "好看"],
  ["utf-16le", "utf-16le", `\ufeff${german}`, "schönes", "grünes ☃"],
  ["utf-16be", "utf-16be", `\ufeff${japanese}`, "カタカナ", "漢字"],
])("a file in %s", (encoding, found, content, old, added) => {
  const original = iconv.encode(content, encoding, { addBOM: false });

  it("is read as text", async () => {
    ground.write("f.txt", original);
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
    ground.write("f.txt", original);
    await server.says("edit_file", { path: "f.txt", edits: [{ old, new: added }] });
    expect(ground.bytes("f.txt")).toEqual(
      iconv.encode(content.replace(old, added), encoding, { addBOM: false }),
    );
  });

  it("is replaced in, patched and appended to", async () => {
    ground.write("f.txt", original);
    await server.says("replace_in_files", { paths: ["f.txt"], old, new: added });
    await server.says("write_file", { path: "f.txt", content: "end\n", mode: "append" });
    expect(ground.bytes("f.txt")).toEqual(
      iconv.encode(`${content.replace(old, added)}end\n`, encoding, { addBOM: false }),
    );
    const lines = content.replace("\ufeff", "").split("\n");
    const patch = `*** Begin Patch\n*** Update File: f.txt\n@@\n-${lines[2]}\n+last\n*** End Patch`;
    ground.write("f.txt", original);
    await server.says("apply_patch", { patch });
    expect(ground.bytes("f.txt")).toEqual(
      iconv.encode(content.replace(lines[2] ?? "", "last"), encoding, { addBOM: false }),
    );
  });
});

describe("what cannot be found out", () => {
  it("is named by the caller: short files have too few letters to tell", async () => {
    ground.write("s.txt", iconv.encode("né\n", "latin1"));
    expect(await server.says("read_file", { path: "s.txt" })).toContain(
      "some bytes are no text: name its encoding",
    );
    expect(await server.says("read_file", { path: "s.txt", encoding: "latin1" })).toMatch(/\n1: né$/);
    await server.says("edit_file", {
      path: "s.txt",
      encoding: "latin1",
      edits: [{ old: "né", new: "né à" }],
    });
    expect(ground.bytes("s.txt")).toEqual(iconv.encode("né à\n", "latin1"));
  });

  it("is kept byte for byte around an edit", async () => {
    ground.write(
      "s.txt",
      Buffer.concat([Buffer.from("ab\n"), Buffer.from([0xe9, 0xff, 10]), Buffer.from("cd\n")]),
    );
    await server.says("edit_file", { path: "s.txt", edits: [{ old: "cd", new: "CD" }] });
    expect(ground.bytes("s.txt")).toEqual(
      Buffer.concat([Buffer.from("ab\n"), Buffer.from([0xe9, 0xff, 10]), Buffer.from("CD\n")]),
    );
  });

  it("and what an encoding cannot hold is refused", async () => {
    ground.write("s.txt", iconv.encode(german, "latin1"));
    const lines = await server.refuses("edit_file", { path: "s.txt", edits: [{ old: "schönes", new: "☃" }] });
    expect(lines[0]).toMatch(/^unencodable: "☃" \(line 2\)/);
    expect(ground.bytes("s.txt")).toEqual(iconv.encode(german, "latin1"));
  });

  it("a search shows lines of old encodings as text", async () => {
    ground.reset({ "s.txt": iconv.encode(german, "latin1") });
    expect(await server.says("search_text", { pattern: "llt sch" })).toMatch(/\n2: fällt schönes Öl,\n/);
  });
});
