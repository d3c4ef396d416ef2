// The user's configuration directory: where the policy and the grants are looked for when no option names them.
import { isAbsolute, join } from "node:path";
import { UsageError } from "../usage-error.ts";

/** Undefined if the environment names no home. */
export function configurationDirectory({
  XDG_CONFIG_HOME = "",
  HOME = "",
  APPDATA = "",
}: NodeJS.ProcessEnv): string | undefined {
  const home = isAbsolute(HOME) ? join(HOME, ".config") : "";
  const directory =
    process.platform === "win32" ? APPDATA : isAbsolute(XDG_CONFIG_HOME) ? XDG_CONFIG_HOME : home;
  return isAbsolute(directory) ? join(directory, "polyfs") : undefined;
}

export function grantsFile(environment: NodeJS.ProcessEnv): string {
  const directory = configurationDirectory(environment);
  if (directory === undefined) throw new UsageError("there is no home directory to keep grants in: set HOME");
  return join(directory, "grants.json");
}
