// The tree that a program starts from: names and contents that programs often mishandle.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { bytesOf } from "./spelling.ts";

const text = (name: string, ending = "\n", last = ending) =>
  ["one", "two", "three", "four", "five", "six"].map(word => `${name} ${word};`).join(ending) + last;

const utf16 = (content: string) => Buffer.from(`\ufeff${content}`, "utf16le");

const nfc = "\u00fcn\u00ef/caf\u00e9.txt";
const nfd = "\u00fcn\u00ef/cafe\u0301.txt";
const long = `${"\u00fc".repeat(125)}x.txt`;
const bytes = "\\xe9t\\xe9";
const deep = "deep/1/2/3/4/5/6/7/8/9/10/11/12";

const files: Readonly<Record<string, string | Buffer>> = {
  "a.txt": text("a"),
  "b.txt": text("b"),
  "d/x.txt": text("x"),
  "d/e/z.txt": text("z"),
  "sp ace/f g.txt": text("spaces"),
  [nfd]: text("nfd"),
  "-rf.txt": text("dash"),
  "new\nline.txt": text("newline"),
  [long]: text("long"),
  [`${bytes}/\\xff\\xc3.txt`]: text("bytes"),
  "\\xed\\xa0\\x80\n.txt": text("surrogate"),
  "Case.txt": text("case"),
  [`${deep}/f.txt`]: text("deep"),
  "crlf.txt": text("crlf", "\r\n"),
  "mixed.txt": `${text("mixed", "\r\n")}mixed seven;\nmixed eight;\n`,
  "bom.txt": `\ufeff${text("bom")}`,
  "utf16.txt": utf16(text("utf16", "\r\n")),
  "utf16be.txt": utf16(text("be")).swap16(),
  "latin1.txt": Buffer.from(text("caf\xe9 \xe4 stra\xdfe"), "latin1"),
  "open.txt": text("open", "\n", ""),
  "empty.txt": "",
  "data.bin": Buffer.from([0, 1, 2, 255, 254, 0, 10, 13, 0]),
};

const links: Readonly<Record<string, string>> = {
  link: "a.txt",
  "d/up": "../b.txt",
  dlink: "d",
  dangling: "nowhere.txt",
  out: "/usr",
  "\\xfelink": `${bytes}/\\xff\\xc3.txt`,
};

/** The paths that programs use: existing, missing, and other spellings of the same. */
export const names: readonly string[] = [
  ...Object.keys(files),
  ...Object.keys(links),
  nfc,
  "case.txt",
  "d",
  "d/e",
  "d/y.txt",
  "dlink/x.txt",
  "dlink/new.txt",
  "sp ace",
  "\u00fcn\u00ef",
  "made",
  "made/in/here.txt",
  "-new",
  `${long.slice(0, -5)}y.txt`,
  bytes,
  `${bytes}/\\xc3(/new.txt`,
  "\\x80",
  "deep/1/2/3",
  "a.txt/below",
  "out/x.txt",
  "nowhere.txt",
  "moved.txt",
  "\u65e5\u672c/\u{1f600}.txt",
];

export function prepare(directory: string): void {
  for (const [name, content] of Object.entries(files)) {
    const path = `${directory}/${name}`;
    mkdirSync(bytesOf(dirname(path)), { recursive: true });
    writeFileSync(bytesOf(path), content);
  }
  for (const [name, target] of Object.entries(links))
    symlinkSync(bytesOf(target), bytesOf(`${directory}/${name}`));
}
