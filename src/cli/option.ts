// The kinds of options, and the columns of the option table.
import type { Access } from "../engine/workspace/root.ts";

interface Described {
  /** For --help: one sentence, no full stop. */
  readonly help: string;
  readonly short?: string;
  /** Where it can be set. By default everywhere. */
  readonly only?: "command line" | "not the file" | "not the command line";
  /** Environment variables that contracts publish for it, by dialect; they count besides our own. */
  readonly published?: Readonly<Record<string, string>>;
}

/** A directory to grant. All options of this kind fill one list, in the order in which they are given. */
interface RootOption extends Described {
  readonly kind: "root";
  readonly access: Access;
}
interface FlagOption extends Described {
  readonly kind: "flag";
  readonly default: boolean;
}
interface TextOption extends Described {
  readonly kind: "text";
  /** The name of the value in --help. */
  readonly value: string;
}
interface ChoiceOption extends Described {
  readonly kind: "choice";
  readonly value: string;
  readonly choices: readonly string[];
  readonly default?: string;
  /** The value of the bare option; another value follows after `=`. */
  readonly implied?: string;
}
/** A whole number, 1 or more. */
interface NumberOption extends Described {
  readonly kind: "number";
  readonly default: number;
}
export type Option = RootOption | FlagOption | TextOption | ChoiceOption | NumberOption;
