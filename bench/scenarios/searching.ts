// Searching: in the whole repository, in a small one, in one file.
import { nameOf, rare } from "../corpus.ts";
import type { Jobs } from "../jobs.ts";
import { job, type Scenario, type Target } from "../scenario.ts";
import { counted, named, right, type Verdict, wrong } from "../verdict.ts";

type Part = Omit<Scenario, "id" | "title" | "targets">;

function inRepository(what: Omit<Jobs["search"], "path">, check: Scenario["check"]): Part {
  return { jobs: ({ repository }) => [job("search", { path: repository, ...what })], check };
}

function needles(answer: string, files: number): Verdict {
  return named(
    answer,
    new Set(Array.from({ length: Math.ceil((files - 7) / rare) }, (_, i) => nameOf(i * rare + 7))),
  );
}

const rareWord = inRepository({ pattern: "needle in the" }, ([answer = ""], { size }) =>
  needles(answer, size.files),
);
const regex = inRepository({ pattern: "n[e]{2}dle\\s+in.*\\d{4}$", regex: true }, ([answer = ""], { size }) =>
  needles(answer, size.files),
);
const none = inRepository({ pattern: "no such words anywhere" }, ([answer = ""]) =>
  /f\d{6}\.\w+/.test(answer) ? wrong("something was found") : right,
);
const first: Target = { of: "limit", atMost: 1.1 };
const again: Target = { of: "limit", atMost: 0.85 };

export const searching: readonly Scenario[] = [
  { id: "search-rare-first", title: "search, rare word, first", fresh: true, ...rareWord, targets: [first] },
  { id: "search-rare-again", title: "the same, repeated", ...rareWord, targets: [again] },
  { id: "search-regex-first", title: "search, regex, first", fresh: true, ...regex, targets: [first] },
  { id: "search-regex-again", title: "the same, repeated", ...regex, targets: [again] },
  { id: "search-none-first", title: "search, no match, first", fresh: true, ...none, targets: [first] },
  { id: "search-none-again", title: "the same, repeated", ...none, targets: [again] },
  {
    id: "search-common",
    title: "search, common word, first 100",
    ...inRepository({ pattern: "compute", limit: 100 }, ([answer = ""]) =>
      counted(answer, /\bcompute\b/g, 100),
    ),
    targets: [{ of: "rival", atMost: 1.5 }],
  },
  {
    id: "search-small",
    title: "search in 200 files",
    repeat: 8,
    jobs: ({ small }) => [job("search", { path: small, pattern: "needle in the" })],
    check: ([answer = ""]) => named(answer, new Set([nameOf(7)])),
    targets: [{ of: "rival", atMost: 1 }],
  },
  {
    id: "search-file",
    title: "search in a file of 1 MB",
    repeat: 8,
    jobs: ({ files }) => [job("search", { path: files.single, pattern: "value_00011000", single: true })],
    check: ([answer = ""]) => counted(answer, /value_00011000/g, 1),
    targets: [{ of: "rival", atMost: 1 }],
  },
];
