// Where the grants of the user are kept.
import { join } from "node:path";
import { configurationDirectory } from "../../engine/workspace/system/user-places.ts";
import { UsageError } from "../usage-error.ts";

export function grantsFile(environment: NodeJS.ProcessEnv): string {
  const directory = configurationDirectory(environment);
  if (directory === undefined) throw new UsageError("there is no home directory to keep grants in: set HOME");
  return join(directory, "grants.json");
}
