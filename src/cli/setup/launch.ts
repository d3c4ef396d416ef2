// The command that a client runs to start polyfs: the current program, or npx if this is npx's copy, with the given
// options and directories.
import { dirname, sep } from "node:path";
import { directoryOnPath } from "../../engine/workspace/system/program-on-path.ts";
import type { OptionLayer } from "../layer.ts";
import type { Option } from "../option.ts";
import { optionNames, options } from "../options.ts";

export interface LaunchCommand {
  readonly command: string;
  readonly args: readonly string[];
}

export function launchOf(line: OptionLayer, directories: readonly string[], npx: boolean): LaunchCommand {
  const program = process.argv[1] ?? "polyfs";
  const args = [...optionsOf(line), ...directories];
  // npx keeps its copy only for a while, so the client has to ask it again.
  const fleeting = program.split(sep).includes("_npx");
  if (!npx && !fleeting) return { command: process.execPath, args: [program, ...args] };
  const [command = "npx", ...rest] = [
    ...npxPrefix(process.platform, process.env),
    "npx",
    "-y",
    "polyfs",
    ...args,
  ];
  return { command, args: rest };
}

/** What every program has on its PATH that was started from a desktop. */
const desktopPath = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];

/**
 * The words before `npx` in a client's configuration. Windows starts npx only through its shell. Desktop programs do
 * not search the directories of Homebrew and nvm; there, `env` adds the directory of npx, and that of Node, which runs it.
 */
export function npxPrefix(
  platform: NodeJS.Platform,
  { PATH = "" }: NodeJS.ProcessEnv,
  node = process.execPath,
): readonly string[] {
  if (platform === "win32") return ["cmd", "/c"];
  const found = directoryOnPath("npx", PATH);
  if (found !== undefined && desktopPath.includes(found)) return [];
  const places = new Set([...(found === undefined ? [] : [found]), dirname(node), ...desktopPath]);
  return ["/usr/bin/env", `PATH=${[...places].join(":")}`];
}

/** The options of the line, spelled out again. Directories are absolute, because clients start servers anywhere. */
function optionsOf({ values, grants }: OptionLayer): string[] {
  const spelled = optionNames.flatMap(name => {
    const value = Object.hasOwn(values, name) ? values[name as keyof typeof values] : undefined;
    if (value === undefined || name === "help") return [];
    const { kind }: Option = options[name];
    return kind === "flag" ? [`--${value ? "" : "no-"}${name}`] : [`--${name}=${value}`];
  });
  const named = grants.map(
    ({ path, access }) => `--allow-${access === "read-only" ? "read" : "write"}=${path}`,
  );
  return [...spelled, ...named];
}
