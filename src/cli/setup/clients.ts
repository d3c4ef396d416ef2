// The clients that `polyfs setup` knows: where each keeps its configuration, and how a server is written there.
import { join } from "node:path";
import {
  type Client,
  type HostEnvironment,
  loose,
  newSession,
  plain,
  remoteAs,
  stdio,
  strict,
} from "./client.ts";
import { jsonFormat } from "./json-format.ts";
import { moreClientsOn } from "./more-clients.ts";
import { tomlFormat } from "./toml-format.ts";
import { yamlFormat } from "./yaml-format.ts";

export function clientsOn(where: HostEnvironment): Readonly<Record<string, Client>> {
  const { platform, environment, home } = where;
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
      project: ".mcp.json",
      trace: claudeCode,
      format: jsonFormat("mcpServers", strict),
      entry: stdio,
      remote: remoteAs("url", "http"),
      afterwards: newSession,
    },
    cursor: {
      title: "Cursor",
      file: join(home, ".cursor/mcp.json"),
      project: ".cursor/mcp.json",
      trace: join(home, ".cursor"),
      format: jsonFormat("mcpServers", strict),
      entry: plain,
      remote: remoteAs("url"),
      afterwards: "Turn it on in Cursor's settings, under MCP.",
    },
    vscode: {
      title: "VS Code",
      file: join(settings, "Code/User/mcp.json"),
      project: ".vscode/mcp.json",
      trace: join(settings, "Code/User"),
      format: jsonFormat("servers", loose),
      entry: stdio,
      remote: remoteAs("url", "http"),
      afterwards: "Run the command MCP: List Servers and start it.",
    },
    codex: {
      title: "Codex",
      file: join(codex, "config.toml"),
      project: ".codex/config.toml",
      trace: codex,
      format: tomlFormat("mcp_servers"),
      entry: plain,
      remote: (url, headers) => ({ url, ...(Object.keys(headers).length > 0 && { http_headers: headers }) }),
      afterwards: newSession,
    },
    zed: {
      title: "Zed",
      file: join(zed, "settings.json"),
      project: ".zed/settings.json",
      trace: zed,
      format: jsonFormat("context_servers", loose),
      entry: (command, args) => ({ source: "custom", command, args }),
      remote: (url, headers) => ({ source: "custom", ...remoteAs("url")(url, headers, "") }),
      afterwards: "The agent panel lists it under its settings.",
    },
    gemini: {
      title: "Gemini CLI",
      file: join(gemini, "settings.json"),
      project: ".gemini/settings.json",
      trace: gemini,
      format: jsonFormat("mcpServers", { comments: true, trailingCommas: false }),
      entry: plain,
      remote: remoteAs("url", "http"),
      afterwards: newSession,
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
      remote: (url, headers, name) => ({
        enabled: true,
        type: "streamable_http",
        name,
        description: "Files: read, search, edit, undo",
        uri: url,
        headers,
        timeout: 300,
      }),
      afterwards: "Start a new session.",
    },
    ...moreClientsOn(where, settings),
  };
}
