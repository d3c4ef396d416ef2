// The command line: `--name value`, `--name=value`, `--flag`, `--no-flag`, short flags, directories, and `--`,
// after which everything is a directory. A subcommand has words of its own, and takes some of the options only.
import { OptionLayer } from "./layer.ts";
import { suggestion } from "./nearest.ts";
import type { Option } from "./option.ts";
import { type OptionName, optionNames, options } from "./options.ts";
import { UsageError } from "./usage-error.ts";

/** How a subcommand parses its line. */
export interface OwnWords {
  /** As it is called, for messages: `polyfs undo`. */
  readonly program: string;
  /** The options that it has in common with serving. */
  readonly options: readonly OptionName[];
  /** Its own options: whether each takes a value. */
  readonly own: Readonly<Record<string, boolean>>;
  option(name: string, value: string): void;
  /** Handles positional words: without it, a directory. */
  operand(word: string): void;
}

export function readCommandLine(args: readonly string[], base: string, words?: OwnWords): OptionLayer {
  const layer = new OptionLayer();
  const rest = args.values();
  const alone = (word: string) => {
    if (words === undefined) layer.set("directories", word, "a directory", base);
    else words.operand(word);
  };
  for (const arg of rest) {
    if (arg === "--") {
      for (const word of rest) alone(word);
    } else if (!arg.startsWith("-") || arg === "-") {
      alone(arg);
    } else {
      const [spelling, given] = splitAtEquals(arg);
      if (words !== undefined && isOwn(spelling, words)) {
        takeOwn(spelling, given, words, rest);
        continue;
      }
      const { name, negated } = optionSpelled(spelling, words);
      layer.set(name, given ?? implied(name, negated) ?? following(spelling, rest), spelling, base);
      if (negated && given !== undefined) throw new UsageError(`${spelling} takes no value`);
    }
  }
  return layer;
}

function splitAtEquals(arg: string): [string, string | undefined] {
  const at = arg.indexOf("=");
  return at < 0 ? [arg, undefined] : [arg.slice(0, at), arg.slice(at + 1)];
}

function isOwn(spelling: string, { own }: OwnWords): boolean {
  return spelling.startsWith("--") && Object.hasOwn(own, spelling.slice(2));
}

function takeOwn(spelling: string, given: string | undefined, words: OwnWords, rest: Iterator<string>): void {
  const name = spelling.slice(2);
  if (words.own[name]) words.option(name, filled(given ?? following(spelling, rest), spelling));
  else if (given === undefined) words.option(name, "");
  else throw new UsageError(`${spelling} takes no value`);
}

function optionSpelled(spelling: string, words?: OwnWords): { name: OptionName; negated: boolean } {
  const { options: names = optionNames, program = "polyfs" } = words ?? {};
  for (const name of names) {
    const option: Option = options[name];
    if (option.only === "not the command line") continue;
    if (spelling === `--${name}` || spelling === `-${option.short}`) return { name, negated: false };
    if (spelling === `--no-${name}` && isNegatable(option)) return { name, negated: true };
  }
  const known = [...spellings(names), ...Object.keys(words?.own ?? {}).map(name => `--${name}`)];
  throw new UsageError(`unknown option ${spelling}${suggestion(spelling, known)}; see ${program} --help`);
}

function implied(name: OptionName, negated: boolean): string | undefined {
  const option: Option = options[name];
  if (option.kind === "choice") return option.implied;
  return option.kind === "flag" ? String(!negated) : undefined;
}

function following(spelling: string, rest: Iterator<string>): string {
  const { value, done } = rest.next();
  if (done || value.startsWith("--")) throw new UsageError(`${spelling} needs a value`);
  return value;
}

function filled(text: string, spelling: string): string {
  if (text === "") throw new UsageError(`${spelling} needs a value`);
  return text;
}

function isNegatable(option: Option): boolean {
  return option.kind === "flag" && option.only !== "command line";
}

function spellings(names: readonly OptionName[]): string[] {
  const known = names.filter(name => (options[name] as Option).only !== "not the command line");
  return known.flatMap(name => (isNegatable(options[name]) ? [`--${name}`, `--no-${name}`] : [`--${name}`]));
}
