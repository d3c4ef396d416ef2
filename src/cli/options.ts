// All options in one table. It drives the command line, the environment variables (POLYFS_…), the configuration file
// and --help, and types the values: a new option is a line here, read where it takes effect.
import { defaultSettings } from "../contract/settings.ts";
import { httpOptions } from "./http-options.ts";
import type { Option } from "./option.ts";
import { storeOptions } from "./store-options.ts";
import { workspacesOptions } from "./workspaces-options.ts";

export const options = {
  directories: {
    kind: "root",
    access: "read-write",
    only: "not the command line",
    help: "Directories to serve, read-write",
  },
  workspace: {
    kind: "root",
    access: "read-write",
    help: "The same as naming DIR alone",
    published: { "agent-tools": "WORKSPACE_ROOT" },
  },
  "allow-write": { kind: "root", access: "read-write", help: "Serve DIR read-write (repeatable)" },
  "allow-read": { kind: "root", access: "read-only", help: "Serve DIR read-only (repeatable)" },
  "sandbox-profile": {
    kind: "text",
    value: "FILE",
    help: 'Serve the directories of a JSON file too: {"read_write": [...], "read_only": [...]}',
  },
  "allow-cwd": { kind: "flag", default: false, help: "Serve the working directory too" },
  "read-only": {
    kind: "flag",
    default: false,
    help: "Change nothing: every directory is read-only",
    published: { "agent-tools": "READ_ONLY" },
  },
  "allow-outside-workspace": {
    kind: "flag",
    default: false,
    help: "Serve the rest of the filesystem too; relative paths still start at the first DIR",
    published: { "agent-tools": "ALLOW_OUTSIDE_WORKSPACE" },
  },
  "allow-filesystem-root": {
    kind: "flag",
    default: false,
    help: "Allow serving the root of the filesystem",
  },
  dialect: { kind: "text", value: "NAME", help: "The set of tools to serve" },
  "plain-names": {
    kind: "flag",
    default: false,
    help: "Advertise tools without the dialect's prefix, for clients that refuse dots in names",
  },
  structured: {
    kind: "flag",
    default: true,
    help: "Omit structured content and its schemas, which halves many answers",
  },
  run: {
    kind: "flag",
    default: true,
    help: "Remove the tools that run commands",
  },
  "allow-run": {
    kind: "choice",
    value: "HOW",
    choices: ["sandboxed", "unsandboxed"],
    implied: "sandboxed",
    help: "How tools run commands",
  },
  "run-network": { kind: "flag", default: false, help: "Let commands in the sandbox use the network" },
  "hard-links": {
    kind: "choice",
    value: "HOW",
    choices: ["replace", "keep"],
    default: "replace",
    help: "How to write a file with other hard links: replace this name only, or keep them linked",
  },
  "allow-irrevocable": {
    kind: "flag",
    default: false,
    help: "Let tools delete what undo could not restore: large or unreadable files, sockets, pipes, very deep trees",
  },
  policy: {
    kind: "text",
    value: "POLICY",
    help: "Rules about paths: a file, default (the built-in rules) or none; default: policy.json in the configuration directory, or the dialect's rules",
  },
  "policy-is-advisory": {
    kind: "flag",
    default: false,
    help: "Allow unsandboxed commands although rules cannot restrict them",
  },
  "state-dir": {
    kind: "text",
    value: "DIR",
    help: "Where journals and history are kept; default: the user's state directory",
  },
  "max-output-bytes": {
    kind: "number",
    default: defaultSettings.maxOutputBytes,
    help: "The longest answer, for dialects with a single limit",
    published: { "agent-tools": "MAX_OUTPUT_BYTES" },
  },
  "max-file-bytes": {
    kind: "number",
    default: defaultSettings.maxFileBytes,
    help: "The largest file to read or edit, for dialects with a single limit",
    published: { "agent-tools": "MAX_FILE_BYTES" },
  },
  "command-timeout-ms": {
    kind: "number",
    default: defaultSettings.commandTimeoutMs,
    help: "Default time limit for commands",
    published: { "agent-tools": "BASH_TIMEOUT_MS" },
  },
  "command-timeout-max-ms": {
    kind: "number",
    default: defaultSettings.commandTimeoutMaxMs,
    help: "Maximum time limit for commands",
    published: { "agent-tools": "BASH_TIMEOUT_MAX_MS" },
  },
  ...workspacesOptions,
  ...storeOptions,
  ...httpOptions,
  "log-level": {
    kind: "choice",
    value: "LEVEL",
    choices: ["error", "warn", "info", "debug"],
    default: "warn",
    help: "Log level on stderr",
  },
  "log-format": {
    kind: "choice",
    value: "FORMAT",
    choices: ["text", "json"],
    default: "text",
    help: "Log format: text or JSON lines",
  },
  config: {
    kind: "text",
    value: "FILE",
    only: "not the file",
    help: "Read options from a JSON file; relative directories in it start at its own directory",
  },
  "mcp-server": {
    kind: "flag",
    default: false,
    only: "command line",
    help: "Accepted and ignored: polyfs is always a server",
  },
  help: { kind: "flag", default: false, short: "h", only: "command line", help: "Print this text" },
  version: { kind: "flag", default: false, short: "v", only: "command line", help: "Print the version" },
} as const satisfies Record<string, Option>;

type OptionTable = typeof options;
export type OptionName = keyof OptionTable;
export const optionNames = Object.keys(options) as OptionName[];

type ValueOf<O> = O extends { kind: "flag" }
  ? boolean
  : O extends { kind: "number" }
    ? number
    : O extends { kind: "choice"; choices: readonly (infer C)[] }
      ? C | (O extends { default: string } ? never : undefined)
      : string | undefined;

/** The values of all options but the directories, by name. */
export type Values = {
  readonly [N in OptionName as OptionTable[N] extends { kind: "root" } ? never : N]: ValueOf<OptionTable[N]>;
};

/** What holds where no source says anything. */
export function defaults(): Values {
  const given = optionNames.map(name => [
    name,
    "default" in options[name] ? options[name].default : undefined,
  ]);
  return Object.fromEntries(given) as Values;
}

/** The prefix of all our environment variables. */
export const prefix = "POLYFS_";

/** `allow-write` → `POLYFS_ALLOW_WRITE`. */
export function environmentName(name: string): string {
  return `${prefix}${name.toUpperCase().replaceAll("-", "_")}`;
}

export function isOptionName(name: string): name is OptionName {
  return Object.hasOwn(options, name);
}
