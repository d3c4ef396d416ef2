// The ignore rules that a user has for every repository: git's `core.excludesFile`, by default
// `~/.config/git/ignore`. The only files outside the granted roots that a search reads.
import { join } from "node:path";
import { readNamedFile } from "../workspace/system/named-file.ts";

export interface UserExcludes {
  readonly path: string;
  readonly text: string;
}

export function userExcludes(): UserExcludes | undefined {
  const { HOME: home = "", XDG_CONFIG_HOME: xdg } = process.env;
  if (home === "") return undefined;
  const config = xdg === undefined || xdg === "" ? join(home, ".config") : xdg;
  const path =
    excludesFile(contents(join(home, ".gitconfig")), home) ??
    excludesFile(contents(join(config, "git/config")), home) ??
    join(config, "git/ignore");
  const text = contents(path);
  return text === undefined || text === "" ? undefined : { path, text };
}

function excludesFile(config: string | undefined, home: string): string | undefined {
  let section = "";
  let value: string | undefined;
  for (const line of config?.split("\n") ?? []) {
    section = /^\s*\[\s*([^\s\]]+)\s*\]/.exec(line)?.[1]?.toLowerCase() ?? section;
    const written = /^\s*excludesfile\s*=\s*"?([^"#;]*?)"?\s*([#;].*)?$/i.exec(line)?.[1];
    if (section === "core" && written) value = written;
  }
  return value?.replace(/^~(?=\/)/, home);
}

function contents(path: string): string | undefined {
  try {
    return readNamedFile(path);
  } catch {
    return undefined;
  }
}
