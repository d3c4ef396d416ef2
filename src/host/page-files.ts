// The files of the review page, which the build puts beside the program.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { program as directory } from "#review";

/** `name` is a single name. Undefined where there is no such file. */
export function readPageFile(name: string): Buffer | undefined {
  try {
    return readFileSync(join(directory, name));
  } catch {
    return undefined;
  }
}
