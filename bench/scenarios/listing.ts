// Listing: a crowded directory, a tree, and files by name.
import { type Corpus, nameOf } from "../corpus.ts";
import { job, type Scenario } from "../scenario.ts";
import { named } from "../verdict.ts";

function names(count: number, ending = ""): Set<string> {
  return new Set(Array.from({ length: count }, (_, i) => nameOf(i)).filter(name => name.endsWith(ending)));
}

const tree: Omit<Scenario, "id" | "title" | "targets"> = {
  jobs: ({ repository }) => [job("tree", { path: repository })],
  check: ([answer = ""], { size }) => named(answer, names(size.files)),
};

const glob: Omit<Scenario, "id" | "title" | "targets"> = {
  jobs: ({ repository }: Corpus) => [job("glob", { path: repository, ending: ".ts" })],
  check: ([answer = ""], { size }) => named(answer, names(size.files, ".ts")),
};

export const listing: readonly Scenario[] = [
  {
    id: "list-10k",
    title: "list a directory of 10,000",
    jobs: ({ crowd }) => [job("list", { path: crowd })],
    check: ([answer = ""]) => named(answer, names(10_000)),
    targets: [{ of: "rival", atMost: 1 }],
  },
  {
    id: "tree-first",
    title: "tree of the repository, first",
    fresh: true,
    ...tree,
    targets: [{ of: "limit", atMost: 1.1 }],
  },
  { id: "tree-again", title: "the same, repeated", ...tree, targets: [{ of: "limit", atMost: 0.4 }] },
  {
    id: "glob-first",
    title: "glob `**/*.ts`, first",
    fresh: true,
    ...glob,
    targets: [{ of: "limit", atMost: 1.1 }],
  },
  { id: "glob-again", title: "the same, repeated", ...glob, targets: [{ of: "limit", atMost: 0.4 }] },
];
