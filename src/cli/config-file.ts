// The configuration file: a JSON object with the options' names as keys, in kebab-case or camelCase.
import { dirname } from "node:path";
import { plainWording, say } from "../contract/wording.ts";
import { Fault } from "../engine/fault.ts";
import { readNamedFile } from "../engine/workspace/system/named-file.ts";
import { parseStrictJson } from "../host/strict-json.ts";
import { OptionLayer } from "./layer.ts";
import { suggestion } from "./nearest.ts";
import type { Option } from "./option.ts";
import { isOptionName, type OptionName, optionNames, options } from "./options.ts";
import { UsageError } from "./usage-error.ts";

export function readConfigFile(file: string): OptionLayer {
  const layer = new OptionLayer();
  for (const [key, value] of Object.entries(readJson(file, "the configuration"))) {
    const name = optionNamed(key, file);
    for (const text of texts(name, value, `"${key}" in ${file}`)) {
      layer.set(name, text, `"${key}" in ${file}`, dirname(file));
    }
  }
  return layer;
}

/** The object in a JSON file named at the start. `what` describes it in messages. */
export function readJson(file: string, what: string): object {
  let content: unknown;
  try {
    content = parseStrictJson(readNamedFile(file));
  } catch (error) {
    const reason =
      error instanceof Fault
        ? say(plainWording, error)
        : `${file} is not JSON (${error instanceof Error ? error.message : error})`;
    throw new UsageError(`${what} cannot be read: ${reason}`);
  }
  if (typeof content === "object" && content !== null && !Array.isArray(content)) return content;
  throw new UsageError(`${file} must hold a JSON object`);
}

function optionNamed(key: string, file: string): OptionName {
  const name = key.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);
  const settable = optionNames.filter(
    one => ![`command line`, `not the file`].includes((options[one] as Option).only ?? ""),
  );
  if (isOptionName(name) && settable.includes(name)) return name;
  throw new UsageError(`unknown key "${key}" in ${file}${suggestion(name, settable)}`);
}

/** The value, as the texts that a command line would give. */
function texts(name: OptionName, value: unknown, as: string): string[] {
  const { kind } = options[name];
  if (kind === "flag" && typeof value === "boolean") return [String(value)];
  if (kind === "number" && typeof value === "number") return [String(value)];
  if (kind !== "flag" && kind !== "number" && typeof value === "string") return [value];
  if (kind === "root" && Array.isArray(value) && value.every(one => typeof one === "string")) return value;
  const expected = {
    flag: "true or false",
    root: "a path or an array of paths",
    text: "a string",
    choice: "a string",
    number: "a number",
  };
  throw new UsageError(`${as} must be ${expected[kind]}`);
}
