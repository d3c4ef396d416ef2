// The command that a client runs to start polyfs: the current program, or npx if this is npx's copy, with the given
// options and directories.
import { sep } from "node:path";
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
  const called = ["npx", "-y", "polyfs", ...args];
  // Windows starts npx only by its shell.
  const [command = "npx", ...rest] = process.platform === "win32" ? ["cmd", "/c", ...called] : called;
  return { command, args: rest };
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
