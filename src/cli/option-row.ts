// An option as a line of --help: how it is spelled, and its sentence.
import type { Option } from "./option.ts";
import { type OptionName, options } from "./options.ts";

/** Empty if the command line does not have it. */
export function rowOf(name: OptionName): [spelling: string, sentence: string][] {
  const option: Option = options[name];
  if (option.only === "not the command line") return [];
  const short = option.short === undefined ? "" : `-${option.short}, `;
  switch (option.kind) {
    case "root":
      return [[`--${name} DIR`, option.help]];
    case "flag":
      return [[`${short}--${option.default ? "no-" : ""}${name}`, option.help]];
    case "text":
      return [[`--${name} ${option.value}`, option.help]];
    case "number":
      return [[`--${name} N`, `${option.help} (default ${option.default})`]];
    case "choice": {
      const { choices, implied, value } = option;
      const spelled = implied === undefined ? `--${name} ${value}` : `--${name}[=${value}]`;
      const standard = option.default === undefined ? `${implied} if left out` : `default ${option.default}`;
      return [[spelled, `${option.help}: ${choices.join(", ")} (${standard})`]];
    }
  }
}
