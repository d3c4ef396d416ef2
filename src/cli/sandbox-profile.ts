// A sandbox profile: a JSON file with directories to serve, after those named otherwise. Other keys are ignored.
import { dirname, resolve } from "node:path";
import type { Grant } from "../engine/workspace/grant.ts";
import type { Access } from "../engine/workspace/root.ts";
import { readJson } from "./config-file.ts";
import { fromHome } from "./layer.ts";
import { UsageError } from "./usage-error.ts";

const keys: readonly (readonly [key: string, access: Access])[] = [
  ["read_write", "read-write"],
  ["read_only", "read-only"],
];

/** Relative directories start at the file's own. */
export function readSandboxProfile(file: string): Grant[] {
  const profile = new Map<string, unknown>(Object.entries(readJson(file, "the sandbox profile")));
  return keys.flatMap(([key, access]) => {
    const paths = profile.get(key) ?? [];
    if (!Array.isArray(paths) || !paths.every(path => typeof path === "string" && path !== "")) {
      throw new UsageError(`"${key}" in ${file} must be an array of paths`);
    }
    return paths.map(path => ({ path: resolve(dirname(file), fromHome(path)), access }));
  });
}
