// Where the program keeps files of its own for the user, besides its state: configuration and compiled code. These are
// the usual places, whatever this process was told to use instead: other servers of the user work there.
import { isAbsolute, join } from "node:path";

/** Where the policy and the grants are looked for when no option names them. Undefined if there is no home. */
export function configurationDirectory({
  XDG_CONFIG_HOME = "",
  HOME = "",
  APPDATA = "",
}: NodeJS.ProcessEnv): string | undefined {
  const home = isAbsolute(HOME) ? join(HOME, ".config") : "";
  const directory =
    process.platform === "win32" ? APPDATA : isAbsolute(XDG_CONFIG_HOME) ? XDG_CONFIG_HOME : home;
  return isAbsolute(directory) ? join(directory, "polyfs") : undefined;
}

/** For compiled code. Undefined if the environment names no home. */
export function cacheDirectory({
  XDG_CACHE_HOME: xdg = "",
  HOME = "",
  LOCALAPPDATA = "",
}: NodeJS.ProcessEnv): string | undefined {
  if (process.platform === "win32")
    return isAbsolute(LOCALAPPDATA) ? join(LOCALAPPDATA, "polyfs") : undefined;
  if (isAbsolute(xdg)) return join(xdg, "polyfs");
  if (!isAbsolute(HOME)) return undefined;
  return join(HOME, process.platform === "darwin" ? "Library/Caches" : ".cache", "polyfs");
}
