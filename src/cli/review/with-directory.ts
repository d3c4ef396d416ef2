// A directory that a command names as its operand, beside those of options.
import { resolve } from "node:path";
import type { Config } from "../config.ts";
import { fromHome } from "../layer.ts";

export function withDirectory(config: Config, named: string | undefined): Config {
  if (named === undefined) return config;
  const access = config["read-only"] ? "read-only" : "read-write";
  return { ...config, grants: [...config.grants, { path: resolve(fromHome(named)), access }] };
}
