// A subcommand: its own words and options, its --help with examples, and its action. `command` turns it into the
// function that the program calls.
import { plainWording, printable, say } from "../../contract/wording.ts";
import { Fault } from "../../engine/fault.ts";
import { columns, lineWidth, wrap } from "../columns.ts";
import { readCommandLine } from "../command-line.ts";
import { type Config, configure } from "../config.ts";
import type { OptionLayer } from "../layer.ts";
import { refuseWithoutEffect } from "../modes.ts";
import { suggestion } from "../nearest.ts";
import { rowOf } from "../option-row.ts";
import type { OptionName } from "../options.ts";
import { print } from "../print.ts";
import { UsageError } from "../usage-error.ts";

export interface OwnOption {
  /** The name of its value in --help; without it the option is a flag. */
  readonly value?: string;
  readonly help: string;
  /** Of a command with verbs: those with which it has an effect. All of them if left out. */
  readonly with?: readonly string[];
}

export interface CommandHelp {
  readonly name: string;
  /** The operands in --help: `[CHANGE] [PATH]`. */
  readonly operands: string;
  readonly description: string;
  readonly own: Readonly<Record<string, OwnOption>>;
  /** The options that it has in common with serving. */
  readonly options: readonly OptionName[];
  readonly examples: readonly (readonly [line: string, what: string])[];
}

/** Values from the command line, the environment and the file. */
export interface Given {
  readonly operands: readonly string[];
  /** The values of the command's own options; "" for flags. */
  readonly own: ReadonlyMap<string, string>;
  /** Every value of an option that can be repeated, in order. */
  each(option: string): readonly string[];
  readonly config: Config;
  /** Values from the command line alone. */
  readonly line: OptionLayer;
}

export interface RunCommand {
  (args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number>;
  readonly about: CommandHelp;
}

export interface Spec extends CommandHelp {
  /** The most operands; after a verb, if there are verbs. */
  readonly most: number | Readonly<Record<string, number>>;
  /** Options that have an effect here which does not depend on how a server is started. */
  readonly apart?: readonly OptionName[];
  run(given: Given): Promise<number>;
}

/** The options that say which directories. */
export const directoryOptions = [
  "workspace",
  "allow-write",
  "allow-read",
  "read-only",
  "allow-filesystem-root",
] as const;

export function command({ most, apart, run, ...about }: Spec): RunCommand {
  const program = `polyfs ${about.name}`;
  const options: readonly OptionName[] = [...about.options, "state-dir", "config", "help"];
  return Object.assign(
    async (args: readonly string[], environment: NodeJS.ProcessEnv) => {
      const operands: string[] = [];
      const own = new Map<string, string>();
      const given: [option: string, value: string][] = [];
      const each = (option: string) => given.filter(([name]) => name === option).map(([, value]) => value);
      const line = readCommandLine(args, process.cwd(), {
        program,
        options,
        own: Object.fromEntries(
          Object.entries(about.own).map(([name, { value }]) => [name, value !== undefined]),
        ),
        option(name, value) {
          own.set(name, value);
          given.push([name, value]);
        },
        operand: word => void operands.push(word),
      });
      if (line.values.help) {
        await print(process.stdout, helpOf({ ...about, options }));
        return 0;
      }
      const [verb] = operands;
      if (typeof most !== "number" && verb === undefined) {
        await print(process.stderr, helpOf({ ...about, options }));
        return 2;
      }
      if (typeof most !== "number") refuseWithVerb(about, most, verb ?? "", own);
      const count = typeof most === "number" ? most : 1 + (most[verb ?? ""] ?? 0);
      if (operands.length > count)
        throw new UsageError(
          `unexpected argument: ${JSON.stringify(operands[count])}; see ${program} --help`,
        );
      const config = configure(line, environment, process.cwd());
      refuseWithoutEffect(config, line, apart);
      return await refusalsTold(() => run({ operands, own, each, config, line }));
    },
    { about: { ...about, options } },
  );
}

function refuseWithVerb(
  { name, own }: CommandHelp,
  verbs: Readonly<Record<string, number>>,
  verb: string,
  given: ReadonlyMap<string, string>,
): void {
  const program = `polyfs ${name}`;
  if (!Object.hasOwn(verbs, verb)) throw new UsageError(unknownVerb(program, verb, Object.keys(verbs)));
  const unused = [...given.keys()].find(option => own[option]?.with?.includes(verb) === false);
  if (unused !== undefined) throw new UsageError(`--${unused} has no effect with ${program} ${verb}`);
}

function unknownVerb(program: string, verb: string, verbs: readonly string[]): string {
  const all = [verbs.slice(0, -1).join(", "), ...verbs.slice(-1)].filter(one => one !== "").join(" and ");
  const are = verbs.length === 1 ? "is" : "are";
  return `unknown command ${program} ${verb}${suggestion(verb, verbs)}; there ${are} ${all}`;
}

/** A fault of the engine is reported in one line; it is not a bug. */
async function refusalsTold(run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    await print(process.stderr, `polyfs: ${printable(say(plainWording, error))}\n`);
    return 1;
  }
}

function helpOf({ name, operands, description, own, options, examples }: CommandHelp): string {
  const rows = [
    ...Object.entries(own).map(
      ([option, { value, help }]) => [`--${option}${value === undefined ? "" : ` ${value}`}`, help] as const,
    ),
    ...options.flatMap(rowOf),
  ];
  const usage = `Usage: polyfs ${name} [options]${operands === "" ? "" : ` ${operands}`}`;
  return `${wrap(usage, lineWidth()).join("\n    ")}

${wrap(description, lineWidth()).join("\n")}

Options:
${columns(rows, "  ")}
Examples:
${examples.map(([line, what]) => `  ${line}\n      ${what}\n`).join("")}
Exit codes: 0 success, 1 failure or refusal, 2 usage error.
`;
}

export interface Subcommand {
  /** One line for --help. */
  readonly summary: string;
  /** Loads what runs it: from the arguments after the word to the exit code. */
  load(): Promise<RunCommand>;
}

/** By their first word. */
export type Subcommands = { readonly [name: string]: Subcommand };
