// A small tree with much in it that is odd: names, endings, encodings, links. Both servers get their own copy.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `line ${i + 1}`).join("\n");

/** Path → content. */
export const files: Readonly<Record<string, string | Buffer>> = {
  "plain.txt": "one\ntwo\nthree\nfour\nfive\n",
  "nofinal.txt": "one\ntwo\nthree",
  "empty.txt": "",
  "newline.txt": "\n",
  "blanks.txt": "\n\n\none\n\n\n",
  "crlf.txt": "one\r\ntwo\r\nthree\r\n",
  "mixed.txt": "one\r\ntwo\nthree\r\nfour\n",
  "bom.txt": "\ufeffone\ntwo\n",
  "utf16le.txt": Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("one\r\nzwölf\r\n", "utf16le")]),
  "utf16be.txt": Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from("one\nzwölf\n", "utf16le").swap16()]),
  "latin1.txt": Buffer.from(
    "Die Größe der Häuser überrascht; schöne Grüße aus München.\nÄrger gäbe es für Bären.\n",
    "latin1",
  ),
  "multibyte.txt": "grün\n日本語\n🙂 emoji\nende\n",
  "nul.bin": Buffer.from([0, 1, 2, 0xff, 0xfe, 10, 0, 200, 201, 10]),
  "long.txt": `${"x".repeat(5000)}\nshort\n`,
  "many.txt": `${numbered(3000)}\n`,
  "chunk.txt": `${"é".repeat(511)}a\n${"ü".repeat(600)}\nend`,
  "fences.md": "text\n```js\ncode()\n```\nmore\n````\n",
  "code.ts":
    "function a() {\n  const x = 1;\n  if (x) {\n    return x;\n  }\n}\n\nfunction b() {\n  return 2;\n}\n",
  "tabs.py": "def a():\n\tx = 1\n\tif x:\n\t\treturn x\n\ndef b():\n\treturn 2\n",
  "twice.txt": "same\nother\nsame\n",
  "dollar.txt": "price $1 & $& $$ `x`\n",
  " spaces .txt": "spaces\n",
  "quote'\".txt": "quotes\n",
  "new\nline.txt": "a line feed in the name\n",
  "caf\u00e9.txt": "composed\n",
  "nai\u0308ve.txt": "decomposed\n",
  "emoji🙂.txt": "emoji\n",
  "[brackets].txt": "brackets\n",
  "{braces}.txt": "braces\n",
  "{one}.txt": "one brace\n",
  "star*.txt": "star\n",
  "back\\slash.txt": "backslash\n",
  "#hash.txt": "hash\n",
  "!bang.txt": "bang\n",
  ".hidden": "hidden\n",
  "-dash": "dash\n",
  "UPPER.TXT": "upper\n",
  "picture.png": Buffer.from("89504e470d0a1a0a", "hex"),
  "photo.JPEG": Buffer.from("ffd8ffe0", "hex"),
  "drawing.svg": "<svg/>",
  "sound.mp3": Buffer.from("494433", "hex"),
  "paper.pdf": "%PDF-1.4",
  ".png": "no extension\n",
  "dir/a.ts": "a\n",
  "dir/b.js": "b\n",
  "dir/deep/er/c.ts": "c\n",
  "dir/.dot/d.ts": "d\n",
  "dir/large.dat": Buffer.alloc(1_500_000, "x"),
  "dir/kilo.dat": Buffer.alloc(1536, "x"),
  "node_modules/pkg/index.js": "module\n",
  "node_modules/pkg/node_modules/inner/index.js": "inner\n",
};

export const directories = ["empty-dir", "dir/empty"];

/** Name → target. `OUTSIDE` is the copy's neighbour. */
export const links: Readonly<Record<string, string>> = {
  "link-file": "plain.txt",
  "link-dir": "dir",
  "link-link": "link-file",
  "link-out": "OUTSIDE/secret.txt",
  "link-out-dir": "OUTSIDE",
  dangling: "nowhere",
  loop: "loop",
  "dir/up": "../plain.txt",
};

/** Plants the tree, or only what is under some of its names. The root itself stays: a server holds on to it. */
export function plant(root: string, outside: string, only?: ReadonlySet<string>): void {
  for (const directory of [root, outside]) mkdirSync(directory, { recursive: true });
  const wanted = (path: string) => only === undefined || only.has(path.split("/")[0] ?? "");
  for (const name of readdirSync(root).filter(wanted))
    rmSync(join(root, name), { recursive: true, force: true });
  for (const name of readdirSync(outside)) rmSync(join(outside, name), { recursive: true, force: true });
  writeFileSync(join(outside, "secret.txt"), "SECRET\n");
  for (const directory of directories.filter(wanted)) mkdirSync(join(root, directory), { recursive: true });
  for (const [path, content] of Object.entries(files).filter(([path]) => wanted(path))) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
    chmodSync(join(root, path), modes[path] ?? 0o644);
  }
  for (const [path, target] of Object.entries(links).filter(([path]) => wanted(path)))
    symlinkSync(target.replace("OUTSIDE", outside), join(root, path));
  if (wanted("fifo")) execFileSync("mkfifo", [join(root, "fifo")]);
  for (const name of readdirSync(root)) if (!(name in links)) utimesSync(join(root, name), moment, moment);
}

const moment = new Date("2024-03-01T12:00:00Z");
const modes: Readonly<Record<string, number>> = { "code.ts": 0o755, "twice.txt": 0o600 };

/** Everything in a tree: kinds, modes, contents. */
export function snapshot(root: string): Record<string, string> {
  const seen: Record<string, string> = {};
  const visit = (path: string) => {
    for (const name of readdirSync(join(root, path)).sort()) {
      const at = path === "" ? name : `${path}/${name}`;
      const stat = lstatSync(join(root, at));
      const mode = (stat.mode & 0o777).toString(8);
      if (stat.isDirectory()) {
        seen[at] = `directory ${mode}`;
        visit(at);
      } else if (stat.isSymbolicLink())
        seen[at] = `link ${readlinkSync(join(root, at)).replace(/^.*outside/, "OUTSIDE")}`;
      else if (stat.isFile())
        seen[at] =
          `file ${mode} ${stat.size > 10_000 ? stat.size : readFileSync(join(root, at)).toString("latin1")}`;
      else seen[at] = "other";
    }
  };
  visit("");
  return seen;
}
