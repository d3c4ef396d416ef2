// Random expressions against ripgrep itself: the same lines, in one order, with any limit; line by line and across
// lines; in a tree and in a named file. A search that a limit ended says so.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import type { Chance } from "../chance.ts";
import type { Trial } from "../suite.ts";
import { same, shown, Tree } from "./tree.ts";

const words = [
  "foo",
  "foo(foo)",
  "Bar",
  "x1",
  "",
  "é",
  "\t",
  "foo bar",
  "a.b",
  "(",
  "end\r",
  "Straße",
  "\ufffd",
];
const atoms = [
  "f.o",
  "foo",
  "\\w+",
  "[A-Z]",
  "^",
  "$",
  "\\b",
  "é",
  "o\\(f",
  "x\\d",
  "(foo|Bar)",
  "s?",
  ".",
  "[^f]",
  "\\s",
];

export async function lines(trial: Trial, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++)
    await trial.tally.attempt(`lines ${round}`, () => compare(trial.chance));
}

async function compare(chance: Chance): Promise<void> {
  using tree = new Tree();
  const named: string[] = [];
  for (let i = 0; i < 12; i++) {
    const count = chance.pick([0, 1, 5, 90]);
    const text = Array.from({ length: count }, () =>
      Array.from({ length: 1 + chance.below(3) }, () => chance.pick(words)).join(" "),
    ).join("\n");
    const directory = chance.pick(["", "d/", "d/e/"]);
    if (directory === "") named.push(`${i}.txt`);
    // Without any line feed, a carriage return would end lines.
    tree.add(`${directory}${i}.txt`, text + (text.includes("\n") ? chance.pick(["", "\n"]) : "\n"));
  }
  for (let i = 0; i < 5; i++) {
    const pattern = Array.from({ length: 1 + chance.below(3) }, () => chance.pick(atoms)).join("");
    const multiline = chance.below(3) === 0;
    const ignoreCase = chance.below(3) === 0;
    const limit = chance.below(2) === 0 ? undefined : 1 + chance.below(40);
    const file = named.length > 0 && chance.below(3) === 0 ? chance.pick(named) : undefined;
    const query = { pattern, multiline, ignoreCase };
    const args = [
      "--no-config",
      "--no-heading",
      "--with-filename",
      "-n",
      "--text",
      "--crlf",
      "--sort=path",
      "-0",
    ];
    if (multiline) args.push("-U", "--multiline-dotall");
    if (ignoreCase) args.push("-i");
    const { stdout } = spawnSync(rgPath, [...args, "-e", pattern, `./${file ?? ""}`], {
      cwd: tree.root,
      maxBuffer: 1 << 28,
    });
    const told = String(stdout)
      .split("\n")
      .filter(line => line.includes("\0"))
      .map(line => line.slice(2).replace("\0", ":").replace(/\r+$/, ""));
    const label = `${JSON.stringify(query)} in ${file ?? "."}, limit ${limit}`;
    for (const reading of ["utf-8", "detected"] as const) {
      const { files, stopped } = await tree.searchAndReport(query, { limit, reading, file });
      const found = shown(files).map(line => line.replace(/\r+$/, ""));
      const wanted = multiline ? [...told, ...overlooked(tree.root, query, found, told)] : told;
      if (limit === undefined) same(found, wanted, `${label} ${reading}`);
      else if (found.length < Math.min(limit, told.length))
        throw new Error(`${label}: ${found.length} of ${told.length}`);
      else if (found.length < told.length && stopped !== "limit")
        throw new Error(`${label}: ${found.length} of ${told.length}, as if there were no more`);
      else
        same(
          found.filter(line => !wanted.includes(line)),
          [],
          `${label} ${reading}: not found by ripgrep`,
        );
    }
  }
}

/**
 * Lines that were found and ripgrep does not show, although JavaScript finds a match in them: across lines, ripgrep 15
 * overlooks a match that begins where the one before ended and looks behind, as `\b.foo` does in "a foo\nfoo".
 */
function overlooked(
  root: string,
  { pattern, ignoreCase }: { pattern: string; ignoreCase: boolean },
  found: readonly string[],
  told: readonly string[],
): string[] {
  const expression = new RegExp(pattern, `gmsu${ignoreCase ? "i" : ""}`);
  return found.filter(line => {
    if (told.includes(line)) return false;
    const [, path = "", number] = /^(.*?):(\d+):/.exec(line) ?? [];
    const text = readFileSync(join(root, path), "utf8");
    return [...text.matchAll(expression)].some(({ index, 0: match }) => {
      const first = text.slice(0, index).split("\n").length;
      const last = first + match.split("\n").length - 1;
      return first <= Number(number) && Number(number) <= last;
    });
  });
}
