// Random ignore files against `git check-ignore`: walks and searches see the files that git does not ignore.
import { execFileSync, spawnSync } from "node:child_process";
import type { Chance } from "../chance.ts";
import type { Trial } from "../suite.ts";
import { same, Tree } from "./tree.ts";

const names = [
  "a",
  "b",
  "ab",
  "a.c",
  "b.c",
  "{a,b}",
  "[ab",
  "a\t",
  "a ",
  "A",
  "x1",
  "a-b",
  "é",
  "#a",
  "!a",
  "a\\b",
  "]",
];
const pieces = [
  ...[
    "a",
    "b",
    "ab",
    "x1",
    ".c",
    "é",
    "*",
    "*",
    "**",
    "?",
    "/",
    "/",
    "\\",
    " ",
    "\t",
    "{a,b}",
    "[ab",
    "[ab]",
    "[!a]",
  ],
  ...[
    "[^a]",
    "[a-c]",
    "[]]",
    "[]a]",
    "[[:alpha:]]",
    "[[:digit:]x]",
    "[![:upper:]]",
    "[[:nope:]]",
    "[\\]]",
    "[a-]",
  ],
  ...["\\*", "\\#", "\\!", "***", "]", "-"],
];

export async function ignored(trial: Trial, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    await trial.tally.attempt(`ignored ${round}`, () => compare(trial.chance));
  }
}

async function compare(chance: Chance): Promise<void> {
  using tree = new Tree();
  execFileSync("git", ["init", "-q"], { cwd: tree.root });
  const paths = Array.from({ length: 30 }, () => path(chance));
  const planted = new Set<string>();
  for (const one of paths) {
    try {
      tree.add(one, "needle\n");
      planted.add(one);
    } catch {
      // One of its directories is a file already.
    }
  }
  const written: string[] = [];
  for (const directory of [
    "",
    ...new Set([...planted].map(one => one.slice(0, one.lastIndexOf("/") + 1))),
  ].slice(0, 3)) {
    const text = Array.from({ length: 1 + chance.below(4) }, () => line(chance)).join(
      chance.pick(["\n", "\n", "\r\n"]),
    );
    tree.add(`${directory}.gitignore`, text + chance.pick(["", "\n"]));
    planted.add(`${directory}.gitignore`);
    written.push(`${directory}.gitignore: ${JSON.stringify(text)}`);
  }
  const { stdout } = spawnSync("git", ["check-ignore", "-z", "--stdin", "--no-index"], {
    cwd: tree.root,
    input: [...planted].join("\0"),
    env: { ...process.env, HOME: tree.base, XDG_CONFIG_HOME: tree.base },
  });
  const left = new Set(String(stdout).split("\0"));
  const expected = [...planted].filter(one => !left.has(one));
  same(await tree.files(), expected, `walk by ${written.join("; ")}`);
  // An expression, so that ripgrep searches; and a second time, when nested ignore files are known.
  const query = { pattern: "n[e]+dle" };
  const options = { ignore: { rules: true, hidden: true }, give: "files" } as const;
  const searched = expected.filter(one => !one.endsWith(".gitignore"));
  for (const time of ["first", "second"]) {
    const found = (await tree.search(query, options)).map(file => file.path);
    same(found, searched, `${time} search by ${written.join("; ")}`);
  }
}

function path(chance: Chance): string {
  const depth = chance.below(3);
  return Array.from({ length: depth + 1 }, () => chance.pick(names)).join("/");
}

function line(chance: Chance): string {
  const body = Array.from({ length: 1 + chance.below(4) }, () => chance.pick(pieces)).join("");
  return `${chance.pick(["", "", "", "!", "/"])}${body}${chance.pick(["", "", "/", " ", "\t", "\\ "])}`;
}
