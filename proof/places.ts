// Where the repository is, seen from the sources (under vitest) and from the bundle in node_modules/.proof.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

function above(directory: string): string {
  return existsSync(join(directory, "package.json")) ? directory : above(dirname(directory));
}

export const repository = above(import.meta.dirname);

/** The program that users start, built. */
export const program = join(repository, "dist/polyfs.cjs");

/** The compiled-code cache of the servers, apart from the user's own. */
export const codeCache = join(repository, "node_modules/.proof/code");
