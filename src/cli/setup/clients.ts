// The clients that `polyfs setup` knows: where each keeps its configuration, and how a server is written there.
import { homedir } from "node:os";
import { join } from "node:path";
import { jsonFormat } from "./json-format.ts";
import { tomlFormat } from "./toml-format.ts";
import type { Entry, Format } from "./unfit.ts";
import { yamlFormat } from "./yaml-format.ts";

export interface Client {
  readonly title: string;
  readonly file: string;
  /** What is there when the client is; the file itself may not be yet. */
  readonly trace: string;
  readonly format: Format;
  /** The server's fields, from what starts it. */
  entry(command: string, args: readonly string[], name: string): Entry;
  /** What the user does for the client to see it. */
  readonly afterwards: string;
}

export interface Surroundings {
  readonly platform: NodeJS.Platform;
  readonly environment: NodeJS.ProcessEnv;
  readonly home: string;
}

export function surroundings(environment: NodeJS.ProcessEnv): Surroundings {
  return { platform: process.platform, environment, home: homedir() };
}

const strict = { comments: false, trailingCommas: false };
const stdio = (command: string, args: readonly string[]) => ({ type: "stdio", command, args });
const plain = (command: string, args: readonly string[]) => ({ command, args });

export function clientsOn({ platform, environment, home }: Surroundings): Readonly<Record<string, Client>> {
  const roaming = environment.APPDATA || join(home, "AppData", "Roaming");
  const config = environment.XDG_CONFIG_HOME || join(home, ".config");
  /** Where programs of the desktop keep their settings. */
  const settings =
    platform === "win32"
      ? roaming
      : platform === "darwin"
        ? join(home, "Library/Application Support")
        : config;
  const claudeCode = join(environment.CLAUDE_CONFIG_DIR || home, ".claude.json");
  const codex = environment.CODEX_HOME || join(home, ".codex");
  const gemini = join(environment.GEMINI_CLI_HOME || home, ".gemini");
  const local = environment.LOCALAPPDATA || join(home, "AppData", "Local");
  const claudeDesktop = (title: string, directory: string): Client => ({
    title,
    file: join(directory, "claude_desktop_config.json"),
    trace: directory,
    format: jsonFormat("mcpServers", strict),
    entry: plain,
    afterwards: "Quit Claude Desktop and start it again.",
  });
  // Programs of the Microsoft Store see their own copy of the roaming directory.
  const storeRoaming = join(local, "Packages", "Claude_pzs8sxrjxfjjc", "LocalCache", "Roaming");
  const zed = platform === "win32" ? join(roaming, "Zed") : join(config, "zed");
  const goose = platform === "win32" ? join(roaming, "Block/goose/config") : join(config, "goose");
  return {
    "claude-desktop": claudeDesktop("Claude Desktop", join(settings, "Claude")),
    ...(platform === "win32" && {
      "claude-desktop-store": claudeDesktop("Claude Desktop (Microsoft Store)", join(storeRoaming, "Claude")),
    }),
    "claude-code": {
      title: "Claude Code",
      file: claudeCode,
      trace: claudeCode,
      format: jsonFormat("mcpServers", strict),
      entry: stdio,
      afterwards: "Start a new session; /mcp lists the servers.",
    },
    cursor: {
      title: "Cursor",
      file: join(home, ".cursor/mcp.json"),
      trace: join(home, ".cursor"),
      format: jsonFormat("mcpServers", strict),
      entry: plain,
      afterwards: "Turn it on in Cursor's settings, under MCP.",
    },
    vscode: {
      title: "VS Code",
      file: join(settings, "Code/User/mcp.json"),
      trace: join(settings, "Code/User"),
      format: jsonFormat("servers", { comments: true, trailingCommas: true }),
      entry: stdio,
      afterwards: "Run the command MCP: List Servers and start it.",
    },
    codex: {
      title: "Codex",
      file: join(codex, "config.toml"),
      trace: codex,
      format: tomlFormat("mcp_servers"),
      entry: plain,
      afterwards: "Start a new session; /mcp lists the servers.",
    },
    zed: {
      title: "Zed",
      file: join(zed, "settings.json"),
      trace: zed,
      format: jsonFormat("context_servers", { comments: true, trailingCommas: true }),
      entry: (command, args) => ({ source: "custom", command, args }),
      afterwards: "The agent panel lists it under its settings.",
    },
    gemini: {
      title: "Gemini CLI",
      file: join(gemini, "settings.json"),
      trace: gemini,
      format: jsonFormat("mcpServers", { comments: true, trailingCommas: false }),
      entry: plain,
      afterwards: "Start a new session; /mcp lists the servers.",
    },
    goose: {
      title: "Goose",
      file: join(goose, "config.yaml"),
      trace: goose,
      format: yamlFormat("extensions"),
      entry: (command, args, name) => ({
        enabled: true,
        type: "stdio",
        name,
        description: "Files: read, search, edit, undo",
        cmd: command,
        args,
        timeout: 300,
      }),
      afterwards: "Start a new session.",
    },
  };
}
