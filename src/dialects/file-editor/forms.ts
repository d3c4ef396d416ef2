// Parameters that are given once or once for each file.
import { Fault } from "../../engine/fault.ts";

/** The schema of a path that may be many, in the contract's words. */
export function pathForms<const One extends string, const Many extends string>(one: One, many: Many) {
  return {
    oneOf: [
      { type: "string", description: one },
      { type: "array", items: { type: "string" }, description: many },
    ],
  } as const;
}

/** The files that are meant; at least one. */
export function pathsOf(path: string | readonly string[]): readonly string[] {
  const paths = typeof path === "string" ? [path] : path;
  if (paths.length > 0) return paths;
  throw new Fault("invalid_argument", { message: "path is an empty array: name at least one file" });
}

/** One value for each path: given one by one, or the same for all. `name` is the parameter's. */
export function valuesFor<T extends string | number>(
  paths: readonly string[],
  value: T | readonly T[],
  name: string,
): readonly T[] {
  if (typeof value === "string" || typeof value === "number") return paths.map(() => value);
  if (value.length === paths.length) return value;
  const message = `Path count (${paths.length}) doesn't match ${name} count (${value.length})`;
  throw new Fault("invalid_argument", { message });
}
