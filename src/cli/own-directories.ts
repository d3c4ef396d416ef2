// Where the program keeps files of its own besides its state and the usual places of the user.
import { codeCache } from "./code-cache.ts";

export function ownDirectories(environment: NodeJS.ProcessEnv): string[] {
  const cache = codeCache([], environment)?.directory;
  return cache === undefined ? [] : [cache];
}
