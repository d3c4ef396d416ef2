// How Windows spells paths. The rules are plain functions, so they are checked on every system; that the program
// follows them on Windows itself is what tools/check-platforms.mjs shows.
import { describe, expect, it } from "vitest";
import { foldedInode } from "../../src/engine/workspace/system/identity.ts";
import {
  fromWindows,
  isReservedOnWindows,
  toWindows,
  windowsPathOfUri,
} from "../../src/engine/workspace/windows-path.ts";

describe("a path on Windows", () => {
  it.each([
    ["C:\\project\\a.txt", "C:/project/a.txt"],
    ["c:\\project\\a.txt", "C:/project/a.txt"],
    ["c:/project/a.txt", "C:/project/a.txt"],
    ["C:\\project\\", "C:/project"],
    ["C:\\", "C:/"],
    ["c:/", "C:/"],
    ["\\\\?\\C:\\long\\path", "C:/long/path"],
    ["\\\\server\\share\\dir", "//server/share/dir"],
    ["\\\\?\\UNC\\server\\share\\dir", "//server/share/dir"],
  ])("%s has one form inside the program: %s", (written, own) => {
    expect(fromWindows(written)).toBe(own);
  });

  it("is printed with backslashes", () => {
    expect(toWindows("C:/project/a.txt")).toBe("C:\\project\\a.txt");
    expect(toWindows("//server/share/dir")).toBe("\\\\server\\share\\dir");
  });

  it.each([
    ["", "/C:/project/a.txt", "C:/project/a.txt"],
    ["", "/c:/project", "c:/project"],
    ["localhost", "/C:/", "C:/"],
    ["", "/C:", "C:/"],
    ["server", "/share/a.txt", "//server/share/a.txt"],
    ["", "/project/a.txt", undefined],
    ["", "/C:work", undefined],
  ])("in a URI with host %j and path %s is %s", (host, pathname, path) => {
    expect(windowsPathOfUri(host, pathname)).toBe(path);
  });
});

describe("on Windows, a name with a special meaning is refused", () => {
  it.each([
    [
      "devices",
      ["NUL", "con", "aux.txt", "COM1", "lpt9.log", "com¹", "CONIN$", "conout$", "con .txt", "sub/nul/x"],
    ],
    [
      "devices by their own namespace",
      ["\\\\.\\C:", "//./PhysicalDrive0", "\\\\?\\Volume{1}\\x", "\\\\?\\GLOBALROOT\\x"],
    ],
    ["alternate streams", ["a.txt:stream", "a.txt::$DATA", "C:\\a:b"]],
    ["short names", ["PROGRA~1", "LONGNA~1.TXT", "C:\\PROGRA~2\\x", "~1"]],
    ["what Windows strips", ["a.txt.", "a.txt ", "dir./a", "..."]],
    ["what no name may hold", ["a\u0001b", "a\tb", "a?b", "a*b", 'a"b', "a<b", "a|b"]],
    ["a drive without a directory", ["C:a.txt", "c:"]],
  ])("%s", (_, names) => {
    for (const name of names) expect([name, isReservedOnWindows(name)]).toEqual([name, true]);
  });

  it.each([
    "a.txt",
    "C:\\project\\a.txt",
    "c:/project/.env",
    "\\\\?\\C:\\work",
    "\\\\server\\share\\x",
    "../a",
    ".",
    "console.txt",
    "community1",
    "backup~2024-old",
    "report~final.docx",
    "nullable.ts",
  ])("and %s is not", name => {
    expect(isReservedOnWindows(name)).toBe(false);
  });
});

describe("the number of a file on NTFS", () => {
  it("is unchanged while it is exact", () => {
    expect(foldedInode(281474976710656n)).toBe(281474976710656);
  });

  it("differs for files whose numbers are the same as floats", () => {
    const [a, b] = [(0x4a7bn << 48n) | 0x1234567n, (0x4a7bn << 48n) | 0x1234568n];
    expect(Number(a)).toBe(Number(b));
    expect(foldedInode(a)).not.toBe(foldedInode(b));
    expect(Number.isSafeInteger(foldedInode(a))).toBe(true);
  });

  it("differs for every use of one entry of the table", () => {
    const uses = Array.from({ length: 65_536 }, (_, use) => foldedInode((BigInt(use) << 48n) | 77n));
    expect(new Set(uses.filter(Number.isSafeInteger)).size).toBe(65_536);
  });
});
