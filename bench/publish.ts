// `node bench/run.mjs publish FILE`: puts a run that was kept with `--json` where people read it: the whole of it into
// docs/performance.md with its picture, and the comparison into the README, with the date and the machine's size. The
// curves of `--growth` have their own place in docs/performance.md.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "./places.ts";
import { chart } from "./report/chart.ts";
import { curves, type GrowthRun } from "./report/growth.ts";
import { comparison, markdown } from "./report/markdown.ts";
import type { Run } from "./report/run.ts";

const [file] = process.argv.slice(2);
if (file === undefined)
  throw new Error("usage: node bench/run.mjs publish FILE (of npm run bench -- --json FILE)");
const run = JSON.parse(readFileSync(file, "utf8")) as Run | GrowthRun;

if ("growth" in run) replaceBetween("docs/performance.md", curves(run), "growth");
else {
  writeFileSync(join(repository, "docs/performance.svg"), chart(run));
  replaceBetween("docs/performance.md", markdown(run).trimEnd());
  replaceBetween(
    "README.md",
    `Measured on ${run.date}, ${run.machine}: medians of ${run.rounds} interleaved rounds in one run, in milliseconds.\n\n${comparison(run)}`,
  );
}

function replaceBetween(name: string, text: string, what = "measured"): void {
  const path = join(repository, name);
  const marks = new RegExp(`(<!-- ${what} -->\\n)[^]*(\\n<!-- end of ${what} -->)`);
  const page = readFileSync(path, "utf8");
  if (!marks.test(page)) throw new Error(`${name} has no place for it`);
  writeFileSync(
    path,
    page.replace(marks, (_, begin: string, end: string) => `${begin}${text}${end}`),
  );
}
