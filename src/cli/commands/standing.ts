// Where a command works that names no directory: where its user stands.
import type { Config } from "../config.ts";

export function whereTheUserStands(config: Config): Config {
  if (config.grants.length > 0) return config;
  const access = config["read-only"] ? "read-only" : "read-write";
  return { ...config, grants: [{ path: process.cwd(), access }] };
}
