// An MCP client as `polyfs setup` knows it: the location of its configuration, and the format of an entry.
import { isAbsolute } from "node:path";
import { userHome } from "../../engine/workspace/system/user.ts";
import { UsageError } from "../usage-error.ts";
import type { Format, ServerEntry } from "./unfit.ts";

export interface Client {
  readonly title: string;
  readonly file: string;
  /** The configuration file inside a project, where the client reads one. */
  readonly project?: string;
  /** Exists if the client is installed; the file itself may not exist yet. */
  readonly trace: string;
  readonly format: Format;
  /** The fields of a server that the client starts. */
  entry(command: string, args: readonly string[], name: string): ServerEntry;
  /** The fields of a server that is reached over HTTP; absent where the file cannot hold one. */
  remote?(url: string, headers: Readonly<Record<string, string>>, name: string): ServerEntry;
  /** What the user does for the client to pick it up. */
  readonly afterwards: string;
}

export interface HostEnvironment {
  readonly platform: NodeJS.Platform;
  readonly environment: NodeJS.ProcessEnv;
  readonly home: string;
}

const directoryVariables =
  /^(APPDATA|LOCALAPPDATA|XDG_CONFIG_HOME|CLAUDE_CONFIG_DIR|CODEX_HOME|GEMINI_CLI_HOME)$/;

export function surroundings(environment: NodeJS.ProcessEnv): HostEnvironment {
  const home = userHome();
  // A relative path would be in the working directory, which is a project.
  if (home === undefined)
    throw new UsageError("there is no home directory to configure clients in: set HOME");
  const absolute = Object.entries(environment).filter(
    ([name, value]) => !directoryVariables.test(name) || isAbsolute(value ?? ""),
  );
  return { platform: process.platform, environment: Object.fromEntries(absolute), home };
}

export const strict = { comments: false, trailingCommas: false };
export const loose = { comments: true, trailingCommas: true };

export const plain: Client["entry"] = (command, args) => ({ command, args });
export const stdio: Client["entry"] = (command, args) => ({ type: "stdio", command, args });

/** A server over HTTP under these names; without a token there are no headers. */
export function remoteAs(urlField: string, type?: string): NonNullable<Client["remote"]> {
  return (url, headers) => ({
    ...(type !== undefined && { type }),
    [urlField]: url,
    ...(Object.keys(headers).length > 0 && { headers }),
  });
}

export const newSession = "Start a new session; /mcp lists the servers.";
