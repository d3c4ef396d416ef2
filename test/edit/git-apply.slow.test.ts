// Random edits of real files, made into patches by git in all its forms, applied by us and by `git apply`: our bytes
// are git's, or we refuse. POLYFS_DIFFS sets how many patches are tried.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { applyFilePatch } from "../../src/engine/edit/hunks.ts";
import { createdContent, parsePatch } from "../../src/engine/edit/patch.ts";
import { Fault } from "../../src/engine/fault.ts";
import { decode, encode } from "../../src/engine/text/text.ts";

const wanted = Number(process.env.POLYFS_DIFFS ?? 150);
const repository = join(import.meta.dirname, "../..");
let directory = "";
const git = (...args: string[]) =>
  execFileSync("git", ["-c", "core.autocrlf=false", "-c", "core.safecrlf=false", ...args], {
    cwd: directory,
    maxBuffer: 1 << 28,
  });

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "git-apply-"));
  git("init", "-q");
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A small generator of numbers, so that a failure can be repeated. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function realFiles(): Buffer[] {
  const files: Buffer[] = [];
  const walk = (folder: string, depth: number) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && depth > 0 && entry.name !== ".git") walk(path, depth - 1);
      else if (
        /\.(ts|js|json|md|mjs|yml|txt)$/.test(entry.name) &&
        entry.isFile() &&
        statSync(path).size < 40_000
      ) {
        const bytes = readFileSync(path);
        if (bytes.length > 0 && Buffer.from(bytes.toString()).equals(bytes)) files.push(bytes);
      }
    }
  };
  walk(join(repository, "src"), 4);
  for (const name of ["iconv-lite", "fast-check", "vite"]) walk(join(repository, "node_modules", name), 2);
  return files;
}

/** A file in one of the shapes that files have. */
function shaped(bytes: Buffer, random: (below: number) => number): string {
  let text = bytes.toString();
  const shape = random(6);
  if (shape === 1) text = text.replaceAll("\r\n", "\n").replaceAll("\n", "\r\n");
  if (shape === 2) text = text.replace(/\n/g, () => (random(3) === 0 ? "\r\n" : "\n"));
  if (shape === 3) text = text.replace(/\n+$/, "");
  if (shape === 4) text = `\ufeff${text}`;
  if (shape === 5)
    text = text
      .split("\n")
      .slice(0, 1 + random(4))
      .join("\n");
  return text;
}

function changed(text: string, random: (below: number) => number): string {
  const lines = text.split(/(?<=\n)/);
  for (let count = 1 + random(4); count > 0; count--) {
    const at = random(lines.length + 1);
    const end = lines[0]?.endsWith("\r\n") && random(4) > 0 ? "\r\n" : "\n";
    const kind = random(7);
    if (kind === 0) lines.splice(at, random(4));
    else if (kind === 1) lines.splice(at, 0, `added ${random(100)}${end}`);
    else if (kind === 2)
      lines.splice(at, 1 + random(2), `replaced${end}`, ...(random(2) ? [`twice${end}`] : []));
    else if (kind === 3 && lines[at] !== undefined) lines.splice(at, 0, lines[at]);
    else if (kind === 4 && lines[at] !== undefined) lines[at] = lines[at].replace(/\w+/, "word");
    else if (kind === 5 && lines.length > 0) lines.push(lines.pop()?.replace(/\r?\n$/, "") ?? "");
    else if (lines[at] !== undefined)
      lines[at] = lines[at].endsWith("\r\n")
        ? lines[at].replace("\r\n", "\n")
        : lines[at].replace(/\n$/, "\r\n");
  }
  return lines.join("");
}

interface Result {
  readonly bytes?: Buffer;
  readonly mode?: boolean;
  readonly refused?: string;
}

async function ours(patch: string, base: Buffer): Promise<Result> {
  try {
    const [file] = parsePatch(patch);
    if (file === undefined) return { refused: "no file" };
    if (file.kind === "create") return { bytes: await encode("f", createdContent(file)) };
    return { bytes: applyFilePatch(await decode("f", base, { encoding: "utf-8" }), file).text.bytes };
  } catch (error) {
    if (error instanceof Fault) return { refused: error.code };
    throw error;
  }
}

function gits(patch: Buffer, base: Buffer, name: string, target: string, more: readonly string[]): Result {
  git("read-tree", "--empty");
  for (const entry of readdirSync(directory))
    if (entry !== ".git") rmSync(join(directory, entry), { recursive: true });
  writeFileSync(join(directory, name), base);
  const args = ["-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", ...more, "-"];
  const run = spawnSync("git", args, { cwd: directory, input: patch });
  if (run.status !== 0) return { refused: run.stderr.toString() };
  try {
    return { bytes: readFileSync(join(directory, target)) };
  } catch {
    return { bytes: Buffer.alloc(0) };
  }
}

describe(`${wanted} patches that git makes`, () => {
  it("give git's bytes or are refused, also on files that changed since", { timeout: 600_000 }, async () => {
    const files = realFiles();
    const counts = { same: 0, bothRefuse: 0, weRefuse: 0, gitRefuses: 0 };
    const exact = { same: 0, refused: 0 };
    for (let seed = 1, made = 0; made < wanted; seed++) {
      const random = randomFrom(seed * 7919);
      const base = shaped(files[random(files.length)] ?? Buffer.alloc(0), random);
      const after = changed(base, random);
      if (base === after) continue;
      made += 1;
      const zero = random(5) === 0;
      const rename = random(4) === 0;
      const forms = [
        `-U${zero ? 0 : 1 + random(4)}`,
        ...(rename ? ["-M"] : []),
        ...(random(3) === 0 ? ["--full-index"] : []),
        ...(random(4) === 0 ? ["--no-prefix"] : []),
      ];
      for (const entry of readdirSync(directory))
        if (entry !== ".git") rmSync(join(directory, entry), { recursive: true });
      git("read-tree", "--empty");
      const name = "some file é.txt";
      const target = rename ? "other.txt" : name;
      writeFileSync(join(directory, name), base);
      git("add", "-A");
      const before = git("write-tree").toString().trim();
      rmSync(join(directory, name));
      writeFileSync(join(directory, target), after, { mode: random(5) === 0 ? 0o755 : 0o644 });
      git("add", "-A");
      const now = git("write-tree").toString().trim();
      const patch = git("diff", ...forms, before, now);
      // A rename that git did not see as one is two patches.
      if (patch.toString().split("\ndiff --git ").length > 1) continue;
      // Half of the time the file is another one by now.
      const moved = random(2) === 0;
      const current = Buffer.from(moved ? changed(base, random) : base);
      const mine = await ours(patch.toString(), current);
      const strip = forms.includes("--no-prefix") ? ["-p0"] : [];
      const theirs = gits(patch, current, name, target, [...strip, ...(zero ? ["--unidiff-zero"] : [])]);
      const where = `seed ${seed}: ${forms.join(" ")}\n${patch}\n${mine.refused ?? ""} ${theirs.refused ?? ""}`;
      if (!moved) {
        if (mine.bytes === undefined) exact.refused += 1;
        else exact.same += 1;
        expect(mine.bytes?.equals(Buffer.from(after)), where).toBe(true);
      }
      if (mine.bytes !== undefined && theirs.bytes !== undefined) {
        expect(mine.bytes.equals(theirs.bytes), where).toBe(true);
        counts.same += 1;
      } else if (mine.bytes === undefined && theirs.bytes === undefined) counts.bothRefuse += 1;
      else if (mine.bytes === undefined) counts.weRefuse += 1;
      else {
        counts.gitRefuses += 1;
        if (process.env.POLYFS_SHOW) console.log(where);
      }
    }
    if (process.env.POLYFS_SHOW || wanted >= 1000) console.log(JSON.stringify({ counts, exact }));
    expect(exact.same).toBeGreaterThan(wanted / 4);
    expect(counts.same).toBeGreaterThan(wanted / 4);
  });
});
