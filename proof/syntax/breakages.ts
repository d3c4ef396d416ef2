// Random small changes of real files: some break the syntax, some do not. The errors that an edit would report are
// compared with those of the language's own parser.
import { newErrors } from "../../src/engine/syntax/new-errors.ts";
import type { Chance } from "../chance.ts";
import type { Trial } from "../suite.ts";
import { corpus, fetchCorpus, textAt } from "./corpus.ts";
import { type Oracle, oracleOf } from "./oracles.ts";

const languages = ["ts", "tsx", "js", "py", "go", "rs", "java", "cpp"];

/** Of so few samples, chance alone makes more of a difference. */
const bounds = {
  short: { recall: 0.95, precision: 0.97 },
  long: { recall: 0.99, precision: 0.995 },
};

export async function breakages(trial: Trial): Promise<void> {
  const total = { both: 0, missed: 0, false: 0, neither: 0 };
  const until = performance.now() + (trial.minutes ?? Number.POSITIVE_INFINITY) * 60_000;
  for (const language of languages) {
    const id = `break-${language}`;
    if (!trial.tally.wants(id)) continue;
    await using oracle = await oracleOf(language);
    if (oracle === undefined) {
      trial.tally.skipped(id, "its parser is not installed");
      continue;
    }
    const quick = ["ts", "tsx", "js", "py"].includes(language);
    const wanted = trial.long ? 1250 : quick ? 60 : 10;
    const count = { both: 0, missed: 0, false: 0, neither: 0 };
    let tried = 0;
    if (trial.long) fetchCorpus(language);
    const paths = corpus(language, wanted, list => trial.chance.shuffled(list));
    // The headers of a C++ file take clang longer than many changes of the file itself.
    const least = trial.long && language === "cpp" ? 40 : 5;
    const each = Math.max(least, Math.ceil(wanted / Math.max(1, paths.length)));
    for (const path of paths) {
      const text = textAt(path);
      if (text.includes("\ufffd") || text.includes("\r") || !(await oracle.accepts(text, path))) continue;
      // A compiler that stops early, at a header that is not there, finds nothing wrong with the rest.
      if (await oracle.accepts(`${text}\n)]}\n`, path)) continue;
      for (let i = 0; i < each && tried < wanted && performance.now() < until; i++) {
        const broken = mutated(text, trial.chance);
        if (broken === text) continue;
        const isBroken = !(await oracle.accepts(broken, path));
        if (!isBroken && language === "cpp" && !(await isRead(oracle, path, text, broken))) continue;
        tried++;
        const errors = await newErrors(`a.${language}`, text, broken);
        const told = errors.length > 0;
        const kind = isBroken ? (told ? "both" : "missed") : told ? "false" : "neither";
        count[kind]++;
        trial.tally.survived();
        if (kind === "missed" || kind === "false")
          trial.say(`${id} ${kind} ${path}: ${difference(text, broken)}`);
      }
      if (tried >= wanted || performance.now() > until) break;
    }
    if (tried === 0) {
      trial.tally.skipped(id, "no files to break");
      continue;
    }
    for (const kind of Object.keys(total) as (keyof typeof total)[]) total[kind] += count[kind];
    trial.say(`${id}: ${line(count)}`);
  }
  trial.say(`all languages: ${line(total)}`);
  const { recall, precision } = ratios(total);
  const bound = trial.long ? bounds.long : bounds.short;
  if (total.both > 0 && (recall < bound.recall || precision < bound.precision))
    trial.tally.failed("break", new Error(line(total)));
}

/** Whether the compiler sees the changed place: the preprocessor leaves some out. */
async function isRead(oracle: Oracle, path: string, text: string, broken: string): Promise<boolean> {
  let at = 0;
  while (text[at] === broken[at]) at++;
  const line = text.lastIndexOf("\n", at - 1) + 1;
  // No bracket: the oracle counts those wherever they are.
  return !(await oracle.accepts(`${text.slice(0, line)}\n@ @ @\n${text.slice(line)}`, path));
}

type Count = Readonly<Record<"both" | "missed" | "false" | "neither", number>>;

function ratios(count: Count) {
  return {
    recall: count.both / Math.max(1, count.both + count.missed),
    precision: count.both / Math.max(1, count.both + count.false),
  };
}

function line(count: Count): string {
  const { recall, precision } = ratios(count);
  const percent = (ratio: number) => `${(100 * ratio).toFixed(2)} %`;
  const all = count.both + count.missed + count.false + count.neither;
  return `${all} changes, ${count.both + count.missed} broken, recall ${percent(recall)}, precision ${percent(precision)}`;
}

/** One small change: the kind of slip that an edit makes. */
function mutated(text: string, chance: Chance): string {
  const tokens = [...text.matchAll(/[A-Za-z_]\w*|[{}()[\];,:"'`]|[^\s\w]+/g)];
  if (tokens.length < 5) return text;
  const token = chance.pick(tokens);
  const [start, end] = [token.index, token.index + token[0].length];
  const lines = text.split("\n");
  const at = chance.below(lines.length);
  switch (chance.below(6)) {
    case 0:
      return text.slice(0, start) + text.slice(end);
    case 1:
      return `${text.slice(0, end)}${token[0]}${text.slice(end)}`;
    case 2:
      return (
        text.slice(0, start) +
        chance.pick(["{", "}", "(", ")", "[", "]", ",", ";", '"', "=", ":"]) +
        text.slice(start)
      );
    case 3:
      return [...lines.slice(0, at), ...lines.slice(at + 1)].join("\n");
    case 4:
      return [...lines.slice(0, at + 1), ...lines.slice(at)].join("\n");
    default: {
      const bracket = chance.pick(tokens.filter(([one]) => /^[{}()[\]]$/.test(one)).concat([token]));
      return text.slice(0, bracket.index) + text.slice(bracket.index + bracket[0].length);
    }
  }
}

function difference(before: string, after: string): string {
  let at = 0;
  while (before[at] === after[at] && at < before.length) at++;
  const place = (text: string) => JSON.stringify(text.slice(Math.max(0, at - 30), at + 30));
  return `${place(before)} -> ${place(after)}`;
}
