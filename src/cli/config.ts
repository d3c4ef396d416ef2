// The configuration from all sources: the command line wins over the environment, our variables over those of the
// dialect's contract, and those over the file. Directories come from the first source that names any, all together: a
// user who names a directory must not get others that an old file or variable still grants.
import { defaultDialect } from "../dialects/index.ts";
import type { Grant } from "../engine/workspace/grant.ts";
import { readConfigFile } from "./config-file.ts";
import { readEnvironment, readPublished } from "./environment.ts";
import type { OptionLayer } from "./layer.ts";
import { defaults, type Values } from "./options.ts";
import { readSandboxProfile } from "./sandbox-profile.ts";

export interface Config extends Values {
  readonly grants: readonly Grant[];
  /**
   * The options that are set, by the command line (0), our variables (1) or the file (2). Variables that contracts
   * publish do not count: they may be set for other programs.
   */
  readonly given: ReadonlyMap<string, number>;
}

export function configure(commandLine: OptionLayer, environment: NodeJS.ProcessEnv, base: string): Config {
  const layers = [commandLine, readEnvironment(environment, base)];
  const file = commandLine.values.config ?? layers[1]?.values.config;
  if (file !== undefined) layers.push(readConfigFile(file));
  const dialect =
    layers.map(({ values }) => values.dialect).find(name => name !== undefined) ?? defaultDialect;
  // The first one counts.
  const given = new Map(
    layers.flatMap(({ values }, layer) => Object.keys(values).map(name => [name, layer] as const)).reverse(),
  );
  if (dialect !== undefined) layers.splice(2, 0, readPublished(environment, base, dialect));
  const values: Values = Object.assign(defaults(), ...layers.map(layer => layer.values).reverse());
  const named = layers.map(layer => layer.grants).find(some => some.length > 0) ?? [];
  const profile = values["sandbox-profile"];
  const grants: Grant[] = [...named, ...(profile === undefined ? [] : readSandboxProfile(profile))];
  if (values["allow-cwd"]) grants.push({ path: base, access: "read-write" });
  return {
    ...values,
    given,
    grants: values["read-only"] ? grants.map(({ path }) => ({ path, access: "read-only" })) : grants,
  };
}
