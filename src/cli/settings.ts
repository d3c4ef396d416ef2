// The settings of the tools, from the options.
import type { Dialect } from "../contract/dialect.ts";
import { defaultSettings, type Settings } from "../contract/settings.ts";
import type { Config } from "./config.ts";

export function settingsOf(config: Config, { withoutRoots }: Dialect): Settings {
  const free = withoutRoots === "callers-choice" && config.grants.length === 0;
  return {
    ...defaultSettings,
    plainNames: config["plain-names"],
    structured: config.structured,
    maxOutputBytes: config["max-output-bytes"],
    maxFileBytes: config["max-file-bytes"],
    commandTimeoutMs: config["command-timeout-ms"],
    commandTimeoutMaxMs: config["command-timeout-max-ms"],
    commands: commandsBy(config),
    commandNetwork: config["run-network"],
    workspaces: config.workspaces !== undefined,
    hardLinks: config["hard-links"],
    anyDirectory: free ? (config["read-only"] ? "read-only" : "read-write") : undefined,
  };
}

/** A command without a sandbox can change anything: with everything read-only, it must be enabled explicitly. */
function commandsBy(config: Config): Settings["commands"] {
  const asked = config["allow-run"];
  return !config.run || (config["read-only"] && asked === undefined) ? "none" : asked;
}
