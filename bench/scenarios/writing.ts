// Writing and editing. What counts is the file afterwards, byte for byte.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { type Corpus, lineOf, textOf } from "../corpus.ts";
import type { Edit } from "../jobs.ts";
import { job, type Scenario } from "../scenario.ts";
import { right, type Verdict, worst, wrong } from "../verdict.ts";

/** An edit of the line with this number, counted from 0. */
function editOf(number: number): Edit {
  const old = lineOf(number);
  return { old, new: old.replace("= compute", "= edited"), line: number + 1 };
}

function editedText(first: number, lines: number, edited: ReadonlySet<number>): string {
  return textOf(first, lines)
    .split("\n")
    .map((line, i) => (edited.has(i) ? line.replace("= compute", "= edited") : line))
    .join("\n");
}

function holds(path: string, text: string): Verdict {
  const found = readFileSync(path, "utf8");
  if (found === text) return right;
  const wanted = text.split("= edited").length - 1;
  const there = found.split("= edited").length - 1;
  return wrong(
    there === wanted ? "other bytes changed" : `${there} of ${wanted} edits are in ${basename(path)}`,
  );
}

const megabyte = 11_500; // lines
const fifty = Array.from({ length: 50 }, (_, i) => 100 + i * 220);
const edited = ({ scratch }: Corpus) => join(scratch, "edited.ts");

function editing(
  lines: number,
  chosen: readonly number[],
  split = false,
): Omit<Scenario, "id" | "title" | "targets"> {
  const before = textOf(0, lines);
  const after = editedText(0, lines, new Set(chosen));
  return {
    prepare: corpus => writeFileSync(edited(corpus), before),
    jobs: corpus =>
      (split ? chosen.map(number => [number]) : [chosen]).map(numbers =>
        job("edit", { path: edited(corpus), edits: numbers.map(editOf) }),
      ),
    check: (_, corpus) => holds(edited(corpus), after),
  };
}

const patched = ({ scratch }: Corpus, i: number) => join(scratch, `patch/p${i}.ts`);
const hundred = Array.from({ length: 100 }, (_, i) => i);
const at = 20; // the line of each file that is changed

function diffOf(corpus: Corpus): string {
  return hundred
    .map(i => {
      const name = relative(corpus.root, patched(corpus, i));
      const context = (line: number) => ` ${lineOf(i * 50 + line)}`;
      const { old, new: fresh } = editOf(i * 50 + at);
      return [
        `diff --git a/${name} b/${name}`,
        `--- a/${name}`,
        `+++ b/${name}`,
        `@@ -${at - 2},7 +${at - 2},7 @@`,
        ...[at - 3, at - 2, at - 1].map(context),
        `-${old}`,
        `+${fresh}`,
        ...[at + 1, at + 2, at + 3].map(context),
        "",
      ].join("\n");
    })
    .join("");
}

const contents = (turn: number) => Array.from({ length: 16 }, (_, i) => textOf(turn * 1000 + i * 46, 46));
const written = ({ scratch }: Corpus) => join(scratch, "written.ts");

export const writing: readonly Scenario[] = [
  {
    id: "write-4k",
    title: "write 4 KB",
    perJob: true,
    jobs: (corpus, turn) => contents(turn).map(content => job("write", { path: written(corpus), content })),
    check: (_, corpus, turn) => holds(written(corpus), contents(turn).at(-1) ?? ""),
    targets: [{ of: "rival", atMost: 1.1 }],
  },
  {
    id: "edit-1m",
    title: "edit in a 1 MB file",
    ...editing(megabyte, [6000]),
    targets: [{ of: "rival", atMost: 0.9 }],
  },
  {
    id: "edit-50",
    title: "50 edits in one file of 1 MB",
    ...editing(megabyte, fifty),
    targets: [{ of: "rival", atMost: 0.9 }],
  },
  {
    id: "patch-100",
    title: "patch over 100 files",
    prepare(corpus) {
      mkdirSync(join(corpus.scratch, "patch"), { recursive: true });
      for (const i of hundred) writeFileSync(patched(corpus, i), textOf(i * 50, 40));
    },
    jobs: corpus => [
      job("patch", {
        root: corpus.root,
        diff: diffOf(corpus),
        files: hundred.map(i => ({
          path: patched(corpus, i),
          edits: [{ ...editOf(i * 50 + at), line: at + 1 }],
        })),
      }),
    ],
    check: (_, corpus) =>
      worst(hundred.map(i => holds(patched(corpus, i), editedText(i * 50, 40, new Set([at]))))),
    targets: [{ of: "rival", atMost: 1.5 }],
  },
  {
    id: "edit-parallel",
    title: "ten edits of one file at once",
    together: true,
    ...editing(400, [10, 50, 90, 130, 170, 210, 250, 290, 330, 370], true),
    targets: [],
  },
];
