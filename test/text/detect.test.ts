import iconv from "iconv-lite";
import { describe, expect, it } from "vitest";
import { detect, isBinary } from "../../src/engine/text/detect.ts";
import { implausibility, likelyEncodings } from "../../src/engine/text/likely.ts";

const found = (text: string, encoding: string) =>
  detect(iconv.encode(text, encoding), { legacy: true }).encoding;

describe("the encoding of a file without a mark", () => {
  it("is detected for texts of some length in the supported languages", () => {
    const samples: [string, string][] = [
      ["これは日本語のテキストです。ファイルの文字コードを調べます。", "shift_jis"],
      ["これは日本語のテキストです。ファイルの文字コードを調べます。", "euc-jp"],
      ["这是一个中文文本文件，用来测试编码的检测功能是否正确。我们需要足够的文字。", "gb18030"],
      ["這是一個中文文字檔案，用來測試編碼的偵測功能是否正確。我們需要足夠的文字。", "big5"],
      ["이것은 한국어 텍스트 파일입니다. 문자 인코딩을 확인하기 위한 시험입니다.", "euc-kr"],
      ["Это обычный русский текст, который нужен для проверки кодировки файла.", "windows-1251"],
      ["Это обычный русский текст, который нужен для проверки кодировки файла.", "koi8-r"],
      ["Déjà vu: le café était fermé à Noël.", "windows-1252"],
      ["Über die Brücke gehen wir in größere Städte.", "windows-1252"],
      ["Größe der Tür\nnaïve café\nGröße\n", "windows-1252"],
      ["Größe, Größe, Größe", "windows-1252"],
    ];
    for (const [text, encoding] of samples) expect(found(text, encoding), text).toBe(encoding);
  });

  it("is not guessed for short texts, other languages and noise", () => {
    expect(found("caf\u00e9", "windows-1252")).toBe("utf-8");
    expect(found("Αυτό είναι ένα ελληνικό κείμενο για δοκιμή της κωδικοποίησης.", "windows-1253")).toBe(
      "utf-8",
    );
    expect(found("Zażółć gęślą jaźń, a potem odpocznij pod jabłonią.", "windows-1250")).toBe("utf-8");
    const noise = Buffer.from(Array.from({ length: 4000 }, (_, i) => ((i * 7919) % 255) + 1));
    expect(detect(noise, { legacy: true }).encoding).toBe("utf-8");
  });

  it("is not called certain where another language has the same codes", () => {
    const certain = (text: string, encoding: string) =>
      detect(iconv.encode(text, encoding), { legacy: true }).certain;
    const names = "日本語 文字 文字 日本語 日本語 田中 東京 大阪 文字 京都 名前 一覧 番号 住所\n".repeat(3);
    expect(certain(names, "euc-jp")).toBe(false);
    const chinese =
      "这是 一个 简体中文 的 文本 文件 里面 有 很多 常用 的 汉字 我们 需要 足够 的 文字\n".repeat(3);
    expect(certain(chinese, "gb18030")).toBe(true);
  });

  it("is UTF-8 by default, and what the caller names has precedence", () => {
    const russian = iconv.encode("Это обычный русский текст, который нужен.", "windows-1251");
    expect(detect(russian).encoding).toBe("utf-8");
    expect(detect(russian, { encoding: "cp1251" })).toEqual({
      encoding: "cp1251",
      mark: false,
      certain: true,
    });
    expect(detect(Buffer.from("\ufeffx"), { encoding: "utf8" })).toEqual({
      encoding: "utf-8",
      mark: true,
      certain: true,
    });
    expect(detect(Buffer.from("\ufeffx", "utf16le"), { encoding: "utf-16" })).toEqual({
      encoding: "utf-16le",
      mark: true,
      certain: true,
    });
  });
});

describe("the likely encodings of a text", () => {
  const singleByte =
    "windows-1252 iso-8859-15 windows-1250 iso-8859-2 windows-1251 koi8-r windows-1253 iso-8859-7 windows-1254 windows-1257 koi8-u iso-8859-5 ibm866 windows-1255 windows-1256";

  it.each(singleByte.split(" "))("are judged by the letters and signs that %s has", encoding => {
    // A wrong table, as Node 20 has for windows-1252, makes the encoding impossible where one of them occurs.
    const bytes = Array.from({ length: 0x80 }, (_, i) => i + 0x80);
    const isDefined = (byte: number) =>
      // Box drawings are odd in any text.
      !/[\u0080-\u009f\u2500-\u259f\ufffd]/.test(iconv.decode(Buffer.from([byte]), encoding)) &&
      // Hebrew points on their own: the two tables disagree about one of them.
      !(encoding === "windows-1255" && byte === 0xca);
    for (const byte of bytes.filter(isDefined)) {
      const sample = Buffer.from([byte, 0x20]);
      expect(implausibility(sample, encoding), `0x${byte.toString(16)}`).toBeLessThan(1);
    }
  });

  it("include windows-1252, first, where a text has its signs", () => {
    const menu = iconv.encode("Käse 3,50 €\nÄpfel süß\nWeißbier\n".repeat(5), "windows-1252");
    expect(detect(menu, { legacy: true })).toMatchObject({ encoding: "windows-1252", certain: false });
    expect(likelyEncodings(menu, "windows-1252")[0]).toBe("windows-1252");
    expect(likelyEncodings(iconv.encode("a – b “c” d…", "windows-1252"))).toContain("windows-1252");
  });

  it("include each way to read two words of Korean or Japanese, however many there are", () => {
    for (const [text, encoding] of [
      ["문자\n", "euc-kr"],
      ["value 위한\n", "euc-kr"],
      ["文字 住所 //\n", "euc-jp"],
    ] as const) {
      const bytes = iconv.encode(text, encoding);
      const readings = likelyEncodings(bytes).map(name => iconv.decode(bytes, name));
      expect(readings, encoding).toContain(text);
    }
  });

  it("are one and certain for a long Western text with these signs", () => {
    const french = iconv.encode(
      "L’été où nous étions à l’hôtel, « très près » de la forêt, il a plu ; la fête a été gâchée à cause de l’orage… Où étiez-vous ?\n".repeat(
        3,
      ),
      "windows-1252",
    );
    expect(detect(french, { legacy: true })).toMatchObject({ encoding: "windows-1252", certain: true });
  });

  it("are found in a time that does not explode with the length of its words", () => {
    // Went over each word once for each of its letters, in 21 encodings: minutes for one word of 60 KB.
    const text = Buffer.concat([Buffer.from("caf"), Buffer.from([0xe9, 32]), Buffer.alloc(60_000, 0x78)]);
    expect(likelyEncodings(text)[0]).toBe("windows-1252");
    expect(likelyEncodings(Buffer.concat([text, Buffer.from([0xe9, 10])]))[0]).toBe("windows-1252");
  });
});

describe("a binary file", () => {
  it("is detected by the caller's rule", () => {
    const late = Buffer.concat([Buffer.alloc(600, 0x61), Buffer.from([0]), Buffer.alloc(600, 0x61)]);
    expect(isBinary(late, { first: 512 })).toBe(false);
    expect(isBinary(late, { first: 512, last: 8000 })).toBe(true);
    expect(isBinary(late, { first: 4096 })).toBe(true);
    expect(isBinary(Buffer.from([0x61, 0xff]), { notUtf8: true })).toBe(true);
    expect(isBinary(Buffer.from("\ufeffab", "utf16le"), { first: 512 })).toBe(false);
  });
});
