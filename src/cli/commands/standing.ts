// The directory of a command that names none: the current one.
import type { Config } from "../config.ts";

export function whereTheUserStands(config: Config): Config {
  if (config.grants.length > 0) return config;
  const access = config["read-only"] ? "read-only" : "read-write";
  return { ...config, grants: [{ path: process.cwd(), access }] };
}
