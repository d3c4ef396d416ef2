// The first word of the command line that is neither an option nor an option's value. If it is a command, the options
// before it belong to that command: `polyfs --dialect fs call …` is `polyfs call --dialect fs …`.
import type { Option } from "./option.ts";
import { isOptionName, options } from "./options.ts";

export interface FirstWord {
  /** "" if there is none. */
  readonly word: string;
  /** The command line without it. */
  readonly others: readonly string[];
}

export function firstWord(args: readonly string[]): FirstWord {
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? "";
    if (arg === "--") break;
    if (arg.startsWith("-") && arg !== "-") {
      if (takesNextWord(arg)) at++;
    } else return { word: arg, others: args.toSpliced(at, 1) };
  }
  return { word: "", others: args };
}

function takesNextWord(arg: string): boolean {
  const name = arg.replace(/^--/, "");
  if (!arg.startsWith("--") || !isOptionName(name)) return false;
  const option: Option = options[name];
  return option.kind !== "flag" && !(option.kind === "choice" && option.implied !== undefined);
}
