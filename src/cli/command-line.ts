// The command line: `--name value`, `--name=value`, `--flag`, `--no-flag`, short flags, directories, and `--`,
// after which everything is a directory.
import { Layer } from "./layer.ts";
import { suggestion } from "./nearest.ts";
import { type Option, type OptionName, optionNames, options } from "./options.ts";
import { UsageError } from "./usage-error.ts";

export function readCommandLine(args: readonly string[], base: string): Layer {
  const layer = new Layer();
  const rest = args.values();
  for (const arg of rest) {
    if (arg === "--") {
      for (const directory of rest) layer.set("directories", directory, "a directory", base);
    } else if (!arg.startsWith("-") || arg === "-") {
      layer.set("directories", arg, "a directory", base);
    } else {
      const [spelling, given] = splitAtEquals(arg);
      const { name, negated } = optionSpelled(spelling);
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

function optionSpelled(spelling: string): { name: OptionName; negated: boolean } {
  for (const name of optionNames) {
    const option: Option = options[name];
    if (option.only === "not the command line") continue;
    if (spelling === `--${name}` || spelling === `-${option.short}`) return { name, negated: false };
    if (spelling === `--no-${name}` && isNegatable(option)) return { name, negated: true };
  }
  throw new UsageError(`unknown option ${spelling}${suggestion(spelling, spellings())}; see polyfs --help`);
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

function isNegatable(option: Option): boolean {
  return option.kind === "flag" && option.only !== "command line";
}

function spellings(): string[] {
  const known = optionNames.filter(name => (options[name] as Option).only !== "not the command line");
  return known.flatMap(name => (isNegatable(options[name]) ? [`--${name}`, `--no-${name}`] : [`--${name}`]));
}
