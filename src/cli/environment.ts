// The environment: every option as POLYFS_NAME. A misspelled variable is refused rather than ignored: a user who sets
// POLYFS_READONLY believes that nothing can be written. Other variables are ignored.
import { delimiter } from "node:path";
import { codeCacheVariable } from "./code-cache.ts";
import { OptionLayer } from "./layer.ts";
import { nearest } from "./nearest.ts";
import type { Option } from "./option.ts";
import { environmentName, optionNames, options, prefix } from "./options.ts";
import { UsageError } from "./usage-error.ts";

export function readEnvironment(environment: NodeJS.ProcessEnv, base: string): OptionLayer {
  const layer = new OptionLayer();
  const names = optionNames.filter(name => (options[name] as Option).only !== "command line");
  refuseMistyped(Object.keys(environment), [...names.map(environmentName), codeCacheVariable]);
  for (const name of names) {
    const variable = environmentName(name);
    const text = environment[variable];
    // Set but empty is how many launchers say "not set".
    if (text === undefined || text === "") continue;
    const parts = options[name].kind === "root" ? text.split(delimiter).filter(part => part !== "") : [text];
    for (const part of parts) layer.set(name, part, variable, base);
  }
  return layer;
}

/** The variables that the dialect's own contract publishes, for users who migrate. */
export function readPublished(environment: NodeJS.ProcessEnv, base: string, dialect: string): OptionLayer {
  const layer = new OptionLayer();
  for (const name of optionNames) {
    const { published = {} }: Option = options[name];
    const variable = Object.hasOwn(published, dialect) ? published[dialect] : undefined;
    const text = variable === undefined ? undefined : environment[variable];
    if (variable !== undefined && text !== undefined && text !== "") layer.set(name, text, variable, base);
  }
  return layer;
}

function refuseMistyped(variables: readonly string[], known: readonly string[]): void {
  const bare = known.map(name => name.slice(prefix.length));
  for (const variable of variables) {
    if (!variable.startsWith(prefix) || known.includes(variable)) continue;
    const meant = nearest(variable.slice(prefix.length), bare);
    if (meant !== undefined) {
      throw new UsageError(`unknown environment variable ${variable} (did you mean ${prefix}${meant}?)`);
    }
  }
}
