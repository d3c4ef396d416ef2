// A tree of files that are hard to read.
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { Chance } from "../chance.ts";

/** Writes the files, and returns their names. */
export function prepare(root: string, chance: Chance, more: number): string[] {
  const files: Record<string, string | Uint8Array> = {
    "plain.txt": "one\ntwo\nthree\n",
    "empty.txt": "",
    "breaks.txt": "\n".repeat(50_000),
    "long-line.txt": "x".repeat(6_000_000),
    "long-lines.txt": `${"\u00e9".repeat(100_000)}\n`.repeat(8),
    "nul.bin": Buffer.alloc(100_000),
    "late-nul.txt": Buffer.concat([Buffer.from("text\n".repeat(5000)), Buffer.from([0])]),
    "utf16.txt": Buffer.from("\ufeffone\r\ntwo\r\n", "utf16le"),
    "utf16-odd.txt": Buffer.concat([Buffer.from("\ufeffone\n", "utf16le"), Buffer.from([1])]),
    "utf16-halves.txt": Buffer.from("\ufeff\ud800x\udfff\n", "utf16le"),
    "utf16be.txt": Buffer.from("\ufeffone\n", "utf16le").swap16(),
    "mark-only.txt": Buffer.from([0xef, 0xbb, 0xbf]),
    "surrogates.txt": Buffer.from([0x61, 0xed, 0xa0, 0x80, 0x62, 0xed, 0xbf, 0xbf, 10]),
    "overlong.txt": Buffer.from([0xc0, 0xaf, 0xe0, 0x80, 0xaf, 0xf5, 0x80, 0x80, 0x80, 10]),
    "cr.txt": "a\rb\rc",
    "latin1.txt": Buffer.from("caf\xe9\nstra\xdfe\n\xfcber\n", "latin1"),
    "sjis.txt": Buffer.from("82b182f182c982bf82cd0a", "hex"),
    "controls.txt": Buffer.from(Array.from({ length: 256 }, (_, i) => i)),
    "deep.json": "[".repeat(100_000),
    "broken.png": Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), chance.bytes(500)]),
    "broken.svg": "<svg",
    ".gitignore": `${chance.bytes(300).toString("latin1")}\n!(\n[\n\\\n/**/**/**/x\n`,
    "new\nline.txt": "x\n",
    "-rf": "x\n",
  };
  for (let i = 0; i < more; i++)
    files[`random-${i}.${chance.pick(["txt", "bin", "ts", "png"])}`] = random(chance);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(root, name), content);
  mkdirSync(join(root, "directory/deeper"), { recursive: true });
  writeFileSync(
    Buffer.concat([Buffer.from(`${root}/directory/`), Buffer.from([0xff, 0xfe, 0x80])]),
    "odd name\n",
  );
  symlinkSync("loop", join(root, "loop"));
  symlinkSync("nowhere", join(root, "dangling"));
  sparse(join(root, "sparse.bin"), 24 * 2 ** 20);
  return [
    ...Object.keys(files),
    "sparse.bin",
    "loop",
    "dangling",
    "directory",
    "directory/\ufffd\ufffd\ufffd",
  ];
}

/** A file of a few bytes that claims to be gigantic. */
function sparse(path: string, size: number): void {
  const file = openSync(path, "w");
  writeSync(file, "head\n");
  ftruncateSync(file, size);
  closeSync(file);
}

function random(chance: Chance): Buffer {
  const bytes = chance.bytes(chance.below(3000));
  switch (chance.below(4)) {
    case 0:
      return bytes;
    case 1:
      return Buffer.from(bytes.map(byte => byte & 0x7f));
    case 2:
      return Buffer.from(bytes.toString("latin1"), "utf8");
    default:
      return Buffer.from(bytes.map(byte => (byte < 40 ? 10 : byte)));
  }
}
