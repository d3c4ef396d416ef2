// `polyfs completion SHELL`: a shell script, generated from the tables of commands, options, dialects, clients and
// tools. These words are in the script; only the ids of changes are queried when Tab is pressed.
import { dialects } from "../../dialects/index.ts";
import type { Option } from "../option.ts";
import { isOptionName, type OptionName, optionNames, options } from "../options.ts";
import { print } from "../print.ts";
import { surroundings } from "../setup/client.ts";
import { clientsOn } from "../setup/clients.ts";
import { UsageError } from "../usage-error.ts";
import { command, type RunCommand, type Subcommands } from "./command.ts";

const shells = { bash, zsh, fish };

export function completion(commands: Subcommands): RunCommand {
  return command({
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
      await print(process.stdout, shells[shell as keyof typeof shells](await wordsOfAll(commands)));
      return 0;
    },
  });
}

interface Words {
  readonly name: string;
  /** The words that can follow the command, if they are fixed. */
  readonly operands: readonly string[];
  readonly summary: string;
  /** Options with their sentences, spelled in full. */
  readonly options: readonly (readonly [spelling: string, help: string])[];
}

/** The words after each command; "" is serving. */
async function wordsOfAll(commands: Subcommands): Promise<Words[]> {
  const first = await operandsOf(Object.keys(commands));
  const all: Words[] = [{ name: "", summary: "", operands: [], options: optionNames.flatMap(spellings) }];
  for (const [name, { summary, load }] of Object.entries(commands)) {
    const { about } = await load();
    const own = Object.entries(about.own).map(([option, { help }]) => [`--${option}`, help] as const);
    const words = [...own, ...about.options.flatMap(spellings)];
    all.push({ name, summary, operands: first[name] ?? [], options: words });
  }
  return all;
}

async function operandsOf(commands: readonly string[]): Promise<Readonly<Record<string, readonly string[]>>> {
  const loaded = await Promise.all(Object.values(dialects).map(load => load()));
  const tools = [...new Set(loaded.flatMap(dialect => dialect.tools.map(({ name }) => name)))].sort();
  return {
    setup: Object.keys(clientsOn(surroundings(process.env))),
    tools,
    call: tools,
    help: commands,
    completion: Object.keys(shells),
    token: ["add", "rotate", "list", "remove"],
    audit: ["verify"],
    policy: ["explain", "test", "schema"],
  };
}

/** Prints the ids of the last changes below the working directory, one on each line. */
const changeIds = `polyfs history --json --limit 50 2>/dev/null | sed -n 's/^{"id":"\\([0-9a-z]*\\)".*/\\1/p'`;

/** The commands and options that take the id of a change. */
const idCommands = ["undo"];
const idOptions = ["--before", "--since"];

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
  return [["--dialect", Object.keys(dialects)], ["--scope", ["user", "project"]], ...choices];
}

/** Commands that take no path. */
const closed = ["tools", "call", "help", "completion"];

function takesValue(spelling: string): boolean {
  const name = spelling.slice(2);
  if (!isOptionName(name)) return false;
  const option: Option = options[name];
  return option.kind !== "flag" && !(option.kind === "choice" && option.implied !== undefined);
}

function bash(all: readonly Words[]): string {
  const names = all.map(({ name }) => name).filter(name => name !== "");
  const cases = all.map(
    ({ name, options: some, operands }) =>
      `    ${name === "" ? "*" : name}) words="${some.map(([word]) => word).join(" ")}"; first="${operands.join(" ")}" ;;`,
  );
  const byValue = all.flatMap(({ options: some }) => some.map(([word]) => word)).filter(takesValue);
  return `_polyfs() {
  local word="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" words="" first="" command="" at i
  # The first word that is no option and no option's value is the command, wherever it is.
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in
      ${[...new Set(byValue)].join("|")}) ((i++)) ;;
      -*) ;;
      *) command="\${COMP_WORDS[i]}"; at=$i; break ;;
    esac
  done
  case "$previous" in
${values()
  .map(
    ([option, some]) => `    ${option}) COMPREPLY=($(compgen -W "${some.join(" ")}" -- "$word")); return ;;`,
  )
  .join("\n")}
    ${idOptions.join("|")}) COMPREPLY=($(compgen -W "$(${changeIds})" -- "$word")); return ;;
  esac
  case "$command" in
${[...cases.slice(1), ...cases.slice(0, 1)].join("\n")}
  esac
  if [[ "$word" == -* ]]; then COMPREPLY=($(compgen -W "$words" -- "$word")); return; fi
  case "$command" in ${idCommands.join("|")}) first="$(${changeIds})" ;; "") first="${names.join(" ")}" ;; esac
  if [[ -z "$command" || $COMP_CWORD -eq $((at + 1)) ]]; then COMPREPLY=($(compgen -W "$first" -- "$word")); fi
  case "$command" in ${closed.join("|")}) ;; *) COMPREPLY+=($(compgen -d -f -- "$word")) ;; esac
}
complete -o filenames -F _polyfs polyfs
`;
}

function zsh(all: readonly Words[]): string {
  const known = new Map(values());
  const spec = ([option, help]: readonly [string, string]) => {
    const some = known.get(option);
    const value = idOptions.includes(option)
      ? ":change:_polyfs_changes"
      : some === undefined
        ? takesValue(option)
          ? ":value:_files"
          : ""
        : `:value:(${some.join(" ")})`;
    return `'${option}[${quoted(help)}]${value}'`;
  };
  const cases = all
    .slice(1)
    .map(
      ({ name, options: some, operands }) =>
        `    ${name}) _arguments ${some.map(spec).join(" ")} ${zshFirst(name, operands)} '*:path:_files' ;;`,
    );
  const rows = all.slice(1).map(({ name, summary }) => `'${name}:${quoted(summary)}'`);
  return `#compdef polyfs
_polyfs_changes() {
  local -a ids=(\${(f)"$(${changeIds})"})
  compadd -a ids
}
_polyfs() {
  local -a commands=(${rows.join(" ")})
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then _describe command commands; _files -/; return; fi
  # _arguments counts from the command on.
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
${cases.join("\n")}
    *) _arguments ${(all[0]?.options ?? []).map(spec).join(" ")} '*:directory:_files -/' ;;
  esac
}
if [ "$funcstack[1]" = "_polyfs" ]; then _polyfs "$@"; else compdef _polyfs polyfs; fi
`;
}

function zshFirst(name: string, operands: readonly string[]): string {
  if (idCommands.includes(name)) return `'1:change:_polyfs_changes'`;
  return operands.length === 0 ? "" : `'1:word:(${operands.join(" ")})'`;
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
  const optionLines = all.flatMap(({ name, options: some }) => {
    const where =
      name === "" ? `not __fish_seen_subcommand_from ${names}` : `__fish_seen_subcommand_from ${name}`;
    return some.map(([option, help]) => {
      const choices = known.get(option);
      const ids = idOptions.includes(option) ? ` -xa ${say(`(${changeIds})`)}` : undefined;
      const take = ids ?? (choices === undefined ? "" : ` -xa ${say(choices.join(" "))}`);
      return `complete -c polyfs -n ${say(where)} -l ${option.slice(2)}${take} -d ${say(help)}`;
    });
  });
  const operands = all.slice(1).flatMap(({ name, operands: some }) => {
    const where = say(`__fish_seen_subcommand_from ${name}`);
    if (idCommands.includes(name)) return [`complete -c polyfs -n ${where} -a ${say(`(${changeIds})`)}`];
    if (some.length === 0) return [];
    const files = closed.includes(name) ? " -f" : "";
    return [`complete -c polyfs -n ${where}${files} -a ${say(some.join(" "))}`];
  });
  return `${[...rows, ...operands, ...optionLines].join("\n")}\n`;
}
