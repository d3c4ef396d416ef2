// The user's global ignore rules: git's `core.excludesFile`, by default `~/.config/git/ignore`. The only files
// outside the granted roots that a search reads.
//
// If the configuration is inside the searched root, a caller may have written it. Then it may name only a file
// inside that root: otherwise a search would reveal names in any file of the user.
import { join } from "node:path";
import { isWithin, type Root } from "../workspace/root.ts";
import { readSmallFile, type SmallFile } from "../workspace/system/named-file.ts";

const maxBytes = 1024 * 1024;

export function userExcludes(root: Root | undefined): string | undefined {
  const { HOME: home = "", XDG_CONFIG_HOME: xdg } = process.env;
  if (home === "") return undefined;
  const config = xdg === undefined || xdg === "" ? join(home, ".config") : xdg;
  const isIn = (path: string | undefined): boolean =>
    root !== undefined && path !== undefined && isWithin(path, root.path);
  const mayBeWritten = (file: SmallFile | undefined): boolean => {
    if (root === undefined || file === undefined) return false;
    const path = file.path();
    return path === undefined || isIn(path);
  };
  for (const path of [join(home, ".gitconfig"), join(config, "git/config")]) {
    const written = readSmallFile(path, maxBytes);
    const named = excludesFile(written?.text, home);
    if (named === undefined) continue;
    const found = readSmallFile(named, maxBytes);
    return mayBeWritten(written) && !isIn(found?.path()) ? undefined : found?.text;
  }
  const path = join(config, "git/ignore");
  const found = readSmallFile(path, maxBytes);
  // A link in the root may lead anywhere.
  const isLinked = root !== undefined && isWithin(path, root.path) && !isIn(found?.path());
  return isLinked ? undefined : found?.text;
}

function excludesFile(config: string | undefined, home: string): string | undefined {
  if (!config || !/excludesfile/i.test(config)) return undefined;
  let section = "";
  let value: string | undefined;
  for (const line of config.split("\n")) {
    section = /^\s*\[\s*([^\s\]]+)\s*\]/.exec(line)?.[1]?.toLowerCase() ?? section;
    const written = /^\s*excludesfile\s*=\s*"?([^"#;]*?)"?\s*([#;].*)?$/i.exec(line)?.[1];
    if (section === "core" && written) value = written;
  }
  return value?.replace(/^~(?=\/)/, home);
}
