// The environment: every option as POLYFS_NAME. A POLYFS_ variable that means nothing is refused rather than
// ignored: whoever set POLYFS_READONLY believes that nothing can be written.
import { delimiter } from "node:path";
import { Layer } from "./layer.ts";
import { suggestion } from "./nearest.ts";
import { environmentName, type Option, optionNames, options } from "./options.ts";
import { UsageError } from "./usage-error.ts";

export function readEnvironment(environment: NodeJS.ProcessEnv, base: string): Layer {
  const layer = new Layer();
  const names = optionNames.filter(name => (options[name] as Option).only !== "command line");
  const known = names.map(environmentName);
  for (const variable of Object.keys(environment)) {
    if (variable.startsWith("POLYFS_") && !known.includes(variable)) {
      throw new UsageError(`unknown environment variable ${variable}${suggestion(variable, known)}`);
    }
  }
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
