// What one source (the command line, the environment, a file) says: values by name, and directories in order.
// All sources read values by the same rules, given here, and differ only in how they spell them.
import { resolve } from "node:path";
import type { Grant } from "../engine/workspace/grant.ts";
import { userHome } from "../engine/workspace/system/user.ts";
import type { Option } from "./option.ts";
import { type OptionName, options, type Values } from "./options.ts";
import { UsageError } from "./usage-error.ts";

export class OptionLayer {
  readonly grants: Grant[] = [];
  readonly #values: Partial<Record<OptionName, string | boolean | number>> = {};

  /** `set` has checked each value against its option's kind, as the type says. */
  get values(): Partial<Values> {
    return this.#values as Partial<Values>;
  }

  /** Takes a value as text. `as` is how the source spells the option, for messages; paths start at `base`. */
  set(name: OptionName, text: string, as: string, base: string): void {
    const option: Option = options[name];
    if (option.kind === "flag") {
      this.#values[name] = flag(text, as);
      return;
    }
    if (text === "") throw new UsageError(`${as} needs a value`);
    if (option.kind === "number") this.#values[name] = wholeNumber(text, as);
    else if (option.kind === "root") {
      this.grants.push({ path: resolve(base, fromHome(text)), access: option.access });
    } else if (option.kind === "choice" && !option.choices.includes(text)) {
      throw new UsageError(`${as} must be one of ${option.choices.join(", ")}, not ${JSON.stringify(text)}`);
    } else
      this.#values[name] =
        option.kind === "text" && option.value === "FILE" ? resolve(base, fromHome(text)) : text;
  }
}

function flag(text: string, as: string): boolean {
  if (/^(1|true|yes|on)$/i.test(text)) return true;
  if (/^(0|false|no|off|)$/i.test(text)) return false;
  throw new UsageError(`${as} must be true or false, not ${JSON.stringify(text)}`);
}

export function wholeNumber(text: string, as: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value > 0 && Number.isSafeInteger(value)) return value;
  throw new UsageError(`${as} must be a whole number, 1 or more, not ${JSON.stringify(text)}`);
}

/** Clients start servers without a shell, so `~` is expanded here. */
export function fromHome(path: string): string {
  return path === "~" || /^~[/\\]/.test(path) ? homeOf() + path.slice(1) : path;
}

function homeOf(): string {
  const home = userHome();
  if (home === undefined) throw new UsageError("there is no home directory for ~: set HOME");
  return home;
}
