// The files that all scenarios work on, created for each run and removed after it. Every file name is unique and
// contains its number, and so does every line, so that any answer can be checked whatever its form.
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  realpathSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Corpus {
  readonly root: string;
  /** Outside of the root, for what servers keep. */
  readonly state: string;
  /** A repository of many files, with what it ignores in node_modules. */
  readonly repository: string;
  /** A repository of two hundred. */
  readonly small: string;
  /** One directory with 10,000 files. */
  readonly crowd: string;
  readonly files: {
    readonly small: string;
    readonly large: string;
    readonly huge: string;
    readonly fifty: readonly string[];
    readonly single: string;
  };
  /** For what is written to. */
  readonly scratch: string;
  readonly size: Size;
}

export interface Size {
  readonly files: number;
  readonly ignored: number;
  readonly hugeLines: number;
}

export const full: Size = { files: 20_000, ignored: 10_000, hugeLines: 2_000_000 };

export const endings = [".ts", ".tsx", ".md", ".json", ".css"] as const;

export function nameOf(number: number, prefix = "f"): string {
  // Nine of twenty are TypeScript: under the 10,000 that some servers answer at most.
  const ending = number % 20 < 9 ? ".ts" : endings[1 + (number % 4)];
  return `${prefix}${String(number).padStart(6, "0")}${ending}`;
}

export function lineOf(number: number): string {
  return `const value_${String(number).padStart(8, "0")} = compute("part ${number % 97}", [${number * 7}]);  // a line of code`;
}

export function textOf(first: number, lines: number): string {
  return `${Array.from({ length: lines }, (_, i) => lineOf(first + i)).join("\n")}\n`;
}

/** One file in a thousand has the rare word. */
export const rare = 1000;

export function makeCorpus(size: Size): Corpus & Disposable {
  const base = mkdtempSync(join(realpathSync(tmpdir()), "polyfs-bench-"));
  const root = join(base, "tree");
  const at = (name: string) => join(root, name);
  const corpus = {
    root,
    state: join(base, "state"),
    size,
    repository: at("repository"),
    small: at("small"),
    crowd: at("crowd"),
    scratch: at("scratch"),
    files: {
      small: at("read/small.ts"),
      large: at("read/large.ts"),
      huge: at("read/huge.log"),
      single: at("read/single.ts"),
      fifty: Array.from({ length: 50 }, (_, i) => at(`read/fifty/g${i}.ts`)),
    },
    [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }),
  };
  process.on("exit", corpus[Symbol.dispose]);
  for (const directory of ["read/fifty", "crowd", "scratch"]) mkdirSync(at(directory), { recursive: true });
  writeRepository(corpus.repository, size.files, size.ignored);
  writeRepository(corpus.small, 200, 0);
  for (let i = 0; i < 10_000; i++) writeFileSync(join(corpus.crowd, nameOf(i)), "");
  writeFileSync(corpus.files.small, textOf(0, 46));
  writeFileSync(corpus.files.large, textOf(0, 115_000));
  writeFileSync(corpus.files.single, textOf(0, 11_500));
  for (const [i, file] of corpus.files.fifty.entries()) writeFileSync(file, textOf(i * 100, 12));
  writeHuge(corpus.files.huge, size.hugeLines);
  return corpus;
}

function writeRepository(root: string, files: number, ignored: number): void {
  mkdirSync(join(root, ".git"), { recursive: true });
  writeFileSync(join(root, ".git/HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(root, ".gitignore"), "node_modules/\n*.log\n");
  const write = (directory: string, name: string, text: string, first: boolean) => {
    if (first) mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, name), text);
  };
  for (let i = 0; i < files; i++) {
    const group = Math.floor(i / 8);
    const directory = join(root, "src", `part${group % 50}`, `group${Math.floor(group / 50)}`);
    const word = i % rare === 7 ? "the needle in the haystack 4711\n" : "";
    write(directory, nameOf(i), textOf(i, 12 + (i % 40)) + word, i % 8 === 0);
  }
  for (let i = 0; i < ignored; i++) {
    const directory = join(root, "node_modules", `package${Math.floor(i / 20)}`, "lib");
    write(directory, nameOf(i, "m"), textOf(i, 12 + (i % 40)), i % 20 === 0);
  }
}

function writeHuge(path: string, lines: number): void {
  const file = openSync(path, "w");
  const step = 20_000;
  for (let from = 0; from < lines; from += step) {
    let text = "";
    for (let i = from; i < Math.min(lines, from + step); i++) text += `${hugeLine(i)}\n`;
    writeSync(file, text);
  }
  closeSync(file);
}

/** A hundred bytes with the line end. Lines count from 0 here. */
export function hugeLine(number: number): string {
  return `entry_${String(number).padStart(9, "0")} `.padEnd(
    99,
    "the quick brown fox jumps over the lazy dog ",
  );
}
