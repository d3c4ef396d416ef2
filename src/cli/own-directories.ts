// Where the program keeps files of its own for the user, besides its state: configuration and compiled code.
import { codeCache } from "./code-cache.ts";
import { configurationDirectory } from "./policy/configuration.ts";

export function ownDirectories(environment: NodeJS.ProcessEnv): string[] {
  const places = [configurationDirectory(environment), codeCache([], environment)?.directory];
  return places.filter(place => place !== undefined);
}
