// The location of the compiled-code cache, and the file that this start needs. Runs before options are parsed, so it
// looks at the bare arguments: a wrong guess costs only milliseconds.
import { isAbsolute } from "node:path";
import { cacheDirectory } from "../engine/workspace/system/user-places.ts";
import type { Cache } from "../host/compiled.ts";

/** A directory for compiled code instead of the user's cache directory, or `off`. */
export const codeCacheVariable = "POLYFS_CODE_CACHE";

export function codeCache(args: readonly string[], environment: NodeJS.ProcessEnv): Cache | undefined {
  const directory = directoryOf(environment);
  if (directory === undefined) return undefined;
  const dialect = given("--dialect", args) ?? environment.POLYFS_DIALECT ?? "";
  const http = given("--http", args) ?? environment.POLYFS_HTTP ?? "";
  // A form holds the functions that ran, and each of these runs others.
  const use = http === "" ? dialect : "http";
  // A word alone is a command: it runs little of what serving needs.
  return { directory, use, fill: !/^[a-z]+$/.test(args[0] ?? "") };
}

function given(option: string, args: readonly string[]): string | undefined {
  const at = args.indexOf(option);
  return at < 0
    ? args.find(arg => arg.startsWith(`${option}=`))?.slice(option.length + 1)
    : (args[at + 1] ?? "");
}

function directoryOf(environment: NodeJS.ProcessEnv): string | undefined {
  const { [codeCacheVariable]: told = "" } = environment;
  if (told === "off") return undefined;
  // Code in a working directory must not be run, so a relative path is ignored.
  if (told !== "") return isAbsolute(told) ? told : undefined;
  return cacheDirectory(environment);
}
