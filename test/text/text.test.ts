import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Fault } from "../../src/engine/fault.ts";
import { dominantEnding, endingsIn } from "../../src/engine/text/endings.ts";
import { shown } from "../../src/engine/text/escape.ts";
import { spliced } from "../../src/engine/text/splice.ts";
import { decode, encode, rewrite } from "../../src/engine/text/text.ts";

const bytesOf = (text: string) => Buffer.from(text, "utf8");
const edit = async (bytes: Buffer, old: string, text: string, options = {}) => {
  const file = await decode("f", bytes, options);
  const start = file.body.indexOf(old);
  expect(start).toBeGreaterThanOrEqual(0);
  return rewrite(file, [{ start, end: start + old.length, text }]).bytes;
};

describe("a text as a value", () => {
  it("keeps every other line ending when a line of a mixed file changes", async () => {
    const after = await edit(bytesOf("one\r\ntwo\nthree\rfour\r\nfive"), "two", "2");
    expect(after.toString()).toBe("one\r\n2\nthree\rfour\r\nfive");
  });

  it("gives added lines the ending of their neighbours, and replaced lines their own", async () => {
    const mixed = bytesOf("a\r\nb\r\nc\nd\n");
    expect((await edit(mixed, "b\n", "b\nB\n")).toString()).toBe("a\r\nb\r\nB\r\nc\nd\n");
    expect((await edit(mixed, "c\n", "c\nC\n")).toString()).toBe("a\r\nb\r\nc\nC\nd\n");
    expect((await edit(mixed, "b\nc\n", "x\ny\n")).toString()).toBe("a\r\nx\r\ny\nd\n");
  });

  it("gives added lines the file's dominant ending where the caller wants that", async () => {
    const file = await decode("f", bytesOf("a\r\nb\r\nc\nd\r\n"));
    const at = file.body.indexOf("d");
    expect(dominantEnding(file)).toBe("\r\n");
    const after = rewrite(file, [{ start: at, end: at, text: "x\n" }], "dominant");
    expect(after.bytes.toString()).toBe("a\r\nb\r\nc\nx\r\nd\r\n");
  });

  it("treats lone carriage returns as line breaks only if there are no others", async () => {
    expect((await decode("f", bytesOf("a\rb\r"))).body).toBe("a\nb\n");
    expect((await edit(bytesOf("a\rb\r"), "b\n", "b\nc\n")).toString()).toBe("a\rb\rc\r");
    expect((await decode("f", bytesOf("a\rb\n"))).body).toBe("a\rb\n");
    expect(endingsIn(await decode("f", bytesOf("a\r\nb\n")))).toBe("mixed");
  });

  it("keeps a byte-order mark, a missing final newline, and bytes that are not UTF-8", async () => {
    const file = Buffer.concat([
      Buffer.from([0xef, 0xbb, 0xbf]),
      bytesOf("caf"),
      Buffer.from([0xe9, 0x20]),
      bytesOf("x"),
    ]);
    const after = await edit(file, "x", "é");
    expect(after).toEqual(Buffer.concat([file.subarray(0, -1), bytesOf("é")]));
    expect(shown((await decode("f", file)).body)).toBe("caf\ufffd x");
  });

  it("edits UTF-16 with and without a mark, and keeps an odd byte at the end", async () => {
    const le = Buffer.concat([
      Buffer.from([0xff, 0xfe]),
      Buffer.from("hé\r\nb\r\n", "utf16le"),
      Buffer.from([7]),
    ]);
    const expected = Buffer.concat([
      Buffer.from([0xff, 0xfe]),
      Buffer.from("hé\r\nZ\r\n", "utf16le"),
      Buffer.from([7]),
    ]);
    expect(await edit(le, "b", "Z")).toEqual(expected);
    const be = Buffer.from("plain words\n", "utf16le").swap16();
    expect((await decode("f", be)).codec.name).toBe("utf-16be");
    expect(await edit(be, "words", "字")).toEqual(Buffer.from("plain 字\n", "utf16le").swap16());
    const named = Buffer.from("日本\n", "utf16le");
    expect(await edit(named, "本", "語", { encoding: "utf-16le" })).toEqual(Buffer.from("日語\n", "utf16le"));
  });

  it("never treats a text of single bytes as UTF-16, whatever the caller says", async () => {
    for (const encoding of ["utf-16le", "utf-16be"]) {
      const latin = Buffer.from("caf\xe9 ones\nna\xefve\n", "latin1");
      expect(latin.length % 2).toBe(0);
      const { raw } = await decode("f", latin, { encoding });
      const refused = edit(latin, raw[1] ?? "", "x", { encoding, strict: true });
      await expect(refused).rejects.toSatisfy(e => Fault.is(e, "unencodable"));
    }
  });

  it("never writes single bytes into UTF-16, whatever the caller says", async () => {
    for (const mark of ["", "\ufeff"])
      for (const encoding of ["gb18030", "windows-1252", "utf-8"]) {
        const wide = Buffer.from(`${mark}plain words\n`, "utf16le");
        const refused = edit(wide, "w", "x", { encoding, strict: true });
        await expect(refused).rejects.toSatisfy(e => Fault.is(e, "unencodable"));
      }
  });

  it("refuses what the encoding cannot hold, and says where", async () => {
    const latin = Buffer.from("caf\xe9\nna\xefve\n", "latin1");
    const refused = edit(latin, "na", "n\n→", { encoding: "windows-1252" });
    await expect(refused).rejects.toSatisfy(
      e => Fault.is(e, "unencodable") && e.data.character === "→" && e.data.line === 3,
    );
    await expect(encode("f", "\ud800")).rejects.toSatisfy(e => Fault.is(e, "unencodable"));
    await expect(encode("f", "ж", { encoding: "latin1" })).rejects.toSatisfy(e => Fault.is(e, "unencodable"));
    await expect(encode("f", "x", { encoding: "klingon" })).rejects.toSatisfy(e =>
      Fault.is(e, "invalid_params"),
    );
    await expect(encode("f", "x", { encoding: "utf-7" })).rejects.toSatisfy(e =>
      Fault.is(e, "invalid_params"),
    );
  });

  it("keeps sequences that Shift_JIS would encode differently, even in the edited line", async () => {
    // 0x8790 and 0x81E0 both decode to ≒; only one of them comes back.
    const line = Buffer.concat([
      Buffer.from([0x87, 0x90]),
      Buffer.from(" old "),
      Buffer.from([0x81, 0xe0, 0x0a, 0x87, 0x90]),
    ]);
    const after = await edit(line, "≒ old ≒", "≒ new ≒", { encoding: "shift_jis" });
    const expected = Buffer.from(line);
    expected.write("new", 3);
    expect(after).toEqual(expected);
  });
});

const legacy =
  "windows-1252 windows-1251 iso-8859-2 iso-8859-15 koi8-r shift_jis euc-jp gbk gb18030 big5 euc-kr latin1 utf-8 utf-16le utf-16be";

describe("whatever bytes a file has", () => {
  it("an edit leaves every byte outside of it as it was", async () => {
    const chunk = fc.oneof(
      fc.uint8Array({ maxLength: 12 }).map(bytes => Buffer.from(bytes)),
      fc.constantFrom("\n", "\r\n", "\r", "abc", "日本", "é", " ").map(text => Buffer.from(text)),
      fc
        .constantFrom([0x93, 0xfa, 0x96, 0x7b], [0xc6, 0xfc], [0x81, 0x30, 0x81, 0x30], [0xef, 0xbb, 0xbf])
        .map(b => Buffer.from(b)),
    );
    const file = fc.array(chunk, { maxLength: 12 }).map(parts => Buffer.concat(parts));
    await fc.assert(
      fc.asyncProperty(file, file, fc.constantFrom(...legacy.split(" ")), async (before, after, encoding) => {
        const needle = await encode("f", "<<old>>", { encoding });
        const bytes = Buffer.concat([before, needle, after]);
        const text = await decode("f", bytes, { encoding });
        // Random bytes before the needle may swallow its first byte; then there is nothing to edit.
        const start = text.body.indexOf("<old>");
        fc.pre(start >= 0 && bytes.indexOf(needle) === before.length);
        const put = await encode("f", "<<new!!>>", { encoding });
        const result = rewrite(text, [{ start, end: start + 5, text: "<new!!>" }]);
        expect(result.bytes.equals(Buffer.concat([before, put, after]))).toBe(true);
        expect((await decode("f", result.bytes, { encoding })).body).toBe(result.body);
      }),
      { numRuns: 600 },
    );
  });

  it("any splices of a UTF-8 text give what a string would give", async () => {
    const content = fc.string({ unit: "binary", maxLength: 40 });
    const lines = fc
      .array(fc.oneof(content, fc.constantFrom("\r\n", "\n", "\r")), { maxLength: 10 })
      .map(l => l.join(""));
    await fc.assert(
      fc.asyncProperty(lines, fc.nat(60), fc.nat(20), content, async (whole, from, length, text) => {
        const file = await decode("f", bytesOf(whole), { encoding: "utf-8" });
        const start = Math.min(from, file.body.length);
        const splice = {
          start,
          end: Math.min(start + length, file.body.length),
          text: text.replaceAll("\r", ""),
        };
        const expected = spliced(file.body, [splice]);
        fc.pre(expected.isWellFormed() && splice.text.isWellFormed());
        fc.pre(!/[\ud800-\udfff]/.test(file.body.slice(Math.max(0, start - 1), splice.end + 1)));
        const { bytes } = rewrite(file, [splice]);
        const flat = (s: string) =>
          file.breaks === "cr" ? s.replaceAll("\r", "\n") : s.replaceAll("\r", "");
        expect(flat(bytes.toString())).toBe(flat((file.mark ? "\ufeff" : "") + expected));
      }),
      { numRuns: 400 },
    );
  });
});
