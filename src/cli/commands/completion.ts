// `polyfs completion SHELL`: a script for the shell, made from the tables of commands, options and dialects. The
// words are in the script, so that pressing Tab starts no program.
import { dialects } from "../../dialects/index.ts";
import { commands } from "../commands.ts";
import type { Option } from "../option.ts";
import { type OptionName, optionNames, options } from "../options.ts";
import { print } from "../print.ts";
import { UsageError } from "../usage-error.ts";
import { command } from "./command.ts";

const shells = { bash, zsh, fish };

export const completion = command({
  name: "completion",
  operands: "bash|zsh|fish",
  description: "Prints a script that completes commands, options and their values in your shell.",
  own: {},
  options: [],
  examples: [
    ['eval "$(polyfs completion bash)"', "in ~/.bashrc"],
    ["polyfs completion zsh > ~/.zfunc/_polyfs", "with ~/.zfunc in fpath"],
    ["polyfs completion fish > ~/.config/fish/completions/polyfs.fish", "once"],
  ],
  most: 1,
  async run({ operands: [shell = ""] }) {
    if (!Object.hasOwn(shells, shell))
      throw new UsageError(`name a shell: polyfs completion ${Object.keys(shells).join("|")}`);
    await print(process.stdout, shells[shell as keyof typeof shells](await wordsOfAll()));
    return 0;
  },
});

interface Words {
  readonly name: string;
  readonly summary: string;
  /** Options with their sentences, spelled in full. */
  readonly options: readonly (readonly [spelling: string, help: string])[];
}

/** What can be written after each command; "" is serving. */
async function wordsOfAll(): Promise<Words[]> {
  const all: Words[] = [{ name: "", summary: "", options: optionNames.flatMap(spellings) }];
  for (const [name, { summary, load }] of Object.entries(commands)) {
    const { about } = await load();
    const own = Object.entries(about.own).map(([option, { help }]) => [`--${option}`, help] as const);
    all.push({ name, summary, options: [...own, ...about.options.flatMap(spellings)] });
  }
  return all;
}

function spellings(name: OptionName): (readonly [string, string])[] {
  const option: Option = options[name];
  if (option.only === "not the command line") return [];
  return [[`--${option.kind === "flag" && option.default ? "no-" : ""}${name}`, option.help]];
}

/** The values of options that have few. */
function values(): [spelling: string, values: readonly string[]][] {
  const choices = optionNames.flatMap(name => {
    const option: Option = options[name];
    return option.kind === "choice" ? [[`--${name}`, option.choices] as [string, readonly string[]]] : [];
  });
  return [["--dialect", Object.keys(dialects)], ...choices];
}

function bash(all: readonly Words[]): string {
  const names = all.map(({ name }) => name).filter(name => name !== "");
  const cases = all.map(
    ({ name, options: some }) =>
      `    ${name === "" ? "*" : name}) words="${some.map(([word]) => word).join(" ")}" ;;`,
  );
  return `_polyfs() {
  local word="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" words=""
  case "$previous" in
${values()
  .map(
    ([option, some]) => `    ${option}) COMPREPLY=($(compgen -W "${some.join(" ")}" -- "$word")); return ;;`,
  )
  .join("\n")}
  esac
  case "\${COMP_WORDS[1]}" in
${[...cases.slice(1), ...cases.slice(0, 1)].join("\n")}
  esac
  if [[ "$word" == -* ]]; then COMPREPLY=($(compgen -W "$words" -- "$word")); return; fi
  COMPREPLY=($(compgen -d -f -- "$word"))
  if [[ $COMP_CWORD -eq 1 ]]; then COMPREPLY+=($(compgen -W "${names.join(" ")}" -- "$word")); fi
}
complete -o filenames -F _polyfs polyfs
`;
}

function zsh(all: readonly Words[]): string {
  const known = new Map(values());
  const spec = ([option, help]: readonly [string, string]) => {
    const some = known.get(option);
    return `'${option}[${quoted(help)}]${some === undefined ? "" : `:value:(${some.join(" ")})`}'`;
  };
  const cases = all
    .slice(1)
    .map(
      ({ name, options: some }) => `    ${name}) _arguments ${some.map(spec).join(" ")} '*:path:_files' ;;`,
    );
  const rows = all.slice(1).map(({ name, summary }) => `'${name}:${quoted(summary)}'`);
  return `#compdef polyfs
_polyfs() {
  local -a commands=(${rows.join(" ")})
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then _describe command commands; _files -/; return; fi
  case $words[2] in
${cases.join("\n")}
    *) _arguments ${(all[0]?.options ?? []).map(spec).join(" ")} '*:directory:_files -/' ;;
  esac
}
if [ "$funcstack[1]" = "_polyfs" ]; then _polyfs "$@"; else compdef _polyfs polyfs; fi
`;
}

function quoted(text: string): string {
  return text.replaceAll("'", "'\\''").replace(/[[\]:]/g, "\\$&");
}

function fish(all: readonly Words[]): string {
  const known = new Map(values());
  const names = all
    .slice(1)
    .map(({ name }) => name)
    .join(" ");
  const say = (text: string) => `'${text.replace(/[\\']/g, "\\$&")}'`;
  const rows = all
    .slice(1)
    .map(({ name, summary }) => `complete -c polyfs -n __fish_use_subcommand -a ${name} -d ${say(summary)}`);
  const options = all.flatMap(({ name, options: some }) => {
    const where =
      name === "" ? `not __fish_seen_subcommand_from ${names}` : `__fish_seen_subcommand_from ${name}`;
    return some.map(([option, help]) => {
      const choices = known.get(option);
      const take = choices === undefined ? "" : ` -xa ${say(choices.join(" "))}`;
      return `complete -c polyfs -n ${say(where)} -l ${option.slice(2)}${take} -d ${say(help)}`;
    });
  });
  return `${[...rows, ...options].join("\n")}\n`;
}
