// The limits: each job done without any server, in this process or by the program that does nothing else.
import { spawn } from "node:child_process";
import { closeSync, fstatSync, openSync, readdirSync, readFileSync, readSync, writeFileSync } from "node:fs";
import { rgPath } from "@vscode/ripgrep";
import type { Edit, JobKind, Jobs } from "./jobs.ts";

/** Each returns what it found, so that the same check applies to it. */
export const limits: { readonly [K in JobKind]: (what: Jobs[K]) => Promise<string> | string } = {
  read: ({ path }) => encoded(readFileSync(path, "utf8")),
  readMany: ({ paths }) => encoded(paths.map(path => readFileSync(path, "utf8")).join("\n")),
  lines: ({ path, first, count }) => encoded(linesOf(path, first, count)),
  tail({ path, count }) {
    const file = openSync(path, "r");
    const buffer = Buffer.allocUnsafe(65_536);
    const read = readSync(file, buffer, 0, buffer.length, Math.max(0, fstatSync(file).size - buffer.length));
    closeSync(file);
    return encoded(buffer.toString("utf8", 0, read).trimEnd().split("\n").slice(-count).join("\n"));
  },
  list: ({ path }) => encoded(readdirSync(path).join("\n")),
  tree: ({ path }) => ripgrep(["--files", "--hidden"], path),
  glob: ({ path, ending }) => ripgrep(["--files", "--hidden", "-g", `*${ending}`], path),
  search: ({ path, pattern, regex = false, limit }) =>
    ripgrep(
      ["--hidden", "-n", "-H", "--no-heading", ...(regex ? [] : ["-F"]), "-e", pattern, path],
      ".",
      limit,
    ),
  write({ path, content }) {
    writeFileSync(path, content);
    return "";
  },
  edit({ path, edits }) {
    writeFileSync(path, edited(readFileSync(path, "utf8"), edits));
    return "";
  },
  patch: ({ root, diff }) => run("git", ["apply", "-"], root, diff),
};

/** An answer is JSON, so its encoding belongs to the work. */
function encoded(text: string): string {
  JSON.stringify(text);
  return text;
}

function linesOf(path: string, first: number, count: number): string {
  const file = openSync(path, "r");
  const buffer = Buffer.allocUnsafe(1 << 20);
  const kept: string[] = [];
  let line = 1;
  for (let read = readSync(file, buffer); read > 0 && line < first + count; read = readSync(file, buffer)) {
    const chunk = buffer.subarray(0, read);
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0 && line < first + count; at = chunk.indexOf(10, from)) {
      if (line >= first) kept.push(chunk.toString("utf8", from, at + 1));
      line++;
      from = at + 1;
    }
    if (line >= first && line < first + count) kept.push(chunk.toString("utf8", from));
  }
  closeSync(file);
  return kept.join("");
}

function edited(text: string, edits: readonly Edit[]): string {
  for (const { old, new: fresh } of edits) {
    const at = text.indexOf(old);
    text = text.slice(0, at) + fresh + text.slice(at + old.length);
  }
  return text;
}

function ripgrep(args: readonly string[], cwd: string, lines?: number): Promise<string> {
  return run(rgPath, ["--no-config", ...args], cwd, undefined, lines);
}

/** The output of a program; it is stopped when enough lines are there. */
function run(
  command: string,
  args: readonly string[],
  cwd: string,
  input?: string,
  lines?: number,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ["pipe", "pipe", "inherit"] });
    const pieces: Buffer[] = [];
    let seen = 0;
    child.stdout.on("data", (piece: Buffer) => {
      pieces.push(piece);
      if (lines === undefined) return;
      for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) seen++;
      if (seen >= lines) child.kill();
    });
    child.stdin.end(input);
    child.on("error", reject);
    child.on("close", () => resolve(Buffer.concat(pieces).toString()));
  });
}
