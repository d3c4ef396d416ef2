// Reading: whole files, many of them, and lines out of a file that is too large to read whole.
import { statSync } from "node:fs";
import { hugeLine } from "../corpus.ts";
import { job, type Scenario } from "../scenario.ts";
import { inOrder, type Verdict, worst, wrong } from "../verdict.ts";

/** The unique beginning of each line: what comes after it may be escaped. */
function* values(first: number, count: number): Generator<string> {
  for (let i = first; i < first + count; i++) yield `value_${String(i).padStart(8, "0")} = compute(`;
}

const small: Omit<Scenario, "id" | "title" | "targets"> = {
  perJob: true,
  jobs: ({ files }) => Array.from({ length: 32 }, () => job("read", { path: files.small, bytes: 8192 })),
  check: answers => worst(answers.map(answer => inOrder(answer, values(0, 46)))),
  content: ({ files }) => statSync(files.small).size,
};

/** The lines and no others, whatever text is beside them. */
function huge(answer: string, first: number, count: number): Verdict {
  const expected = Array.from({ length: count }, (_, i) => hugeLine(first + i).slice(0, 15));
  const found = answer.match(/entry_\d{9}/g) ?? [];
  if (found.length > count || found.some((entry, i) => entry !== expected[i]))
    return wrong(`lines from ${found[0]}, wanted from ${expected[0]}`);
  return inOrder(answer, expected);
}

const middle: Omit<Scenario, "id" | "title" | "targets"> = {
  jobs: ({ files, size }) => [job("lines", { path: files.huge, first: size.hugeLines / 2 + 1, count: 40 })],
  check: ([answer = ""], { size }) => huge(answer, size.hugeLines / 2, 40),
};

const end: Omit<Scenario, "id" | "title" | "targets"> = {
  jobs: ({ files }) => [job("tail", { path: files.huge, count: 40 })],
  check([answer = ""], { size }) {
    // Some count an empty line after the last line end.
    const count = answer.includes(hugeLine(size.hugeLines - 40).slice(0, 15)) ? 40 : 39;
    return huge(answer, size.hugeLines - count, count);
  },
};

export const reading: readonly Scenario[] = [
  { id: "read-4k", title: "read 4 KB", ...small, targets: [{ of: "rival", atMost: 0.9 }] },
  {
    id: "read-4k-32",
    title: "the same, 32 in flight, per call",
    ...small,
    together: true,
    targets: [{ of: "rival", atMost: 0.9 }],
  },
  {
    id: "read-10m",
    title: "read 10 MB",
    jobs: ({ files }) => [job("read", { path: files.large, bytes: 16 * 1024 * 1024 })],
    check: ([answer = ""]) => inOrder(answer, values(0, 115_000)),
    content: ({ files }) => statSync(files.large).size,
    targets: [{ of: "rival", atMost: 0.9 }],
  },
  {
    id: "read-50",
    title: "read 50 files in a call",
    repeat: 8,
    jobs: ({ files }) => [job("readMany", { paths: files.fifty })],
    check: ([answer = ""], { files }) =>
      inOrder(
        answer,
        files.fifty.flatMap((_, i) => [...values(i * 100, 12)]),
      ),
    content: ({ files }) => files.fifty.reduce((sum, file) => sum + statSync(file).size, 0),
    targets: [{ of: "rival", atMost: 0.9 }],
  },
  {
    id: "range-first",
    title: "40 lines in the middle of 200 MB, first",
    fresh: true,
    ...middle,
    targets: [{ of: "rival", atMost: 0.3 }],
  },
  {
    id: "range-again",
    title: "the same, repeated",
    repeat: 4,
    ...middle,
    targets: [{ of: "ms", atMost: 2 }],
  },
  {
    id: "tail-first",
    title: "last 40 lines of 200 MB, first",
    fresh: true,
    ...end,
    targets: [{ of: "rival", atMost: 0.3 }],
  },
  { id: "tail-again", title: "the same, repeated", repeat: 8, ...end, targets: [{ of: "ms", atMost: 2 }] },
];
