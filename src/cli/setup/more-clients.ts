// Further clients of `polyfs setup`: editors' extensions and command-line agents.
import { join } from "node:path";
import { type Client, type HostEnvironment, loose, newSession, plain, remoteAs, strict } from "./client.ts";
import { jsonFormat } from "./json-format.ts";

export function moreClientsOn(
  { platform, environment, home }: HostEnvironment,
  /** Where programs of the desktop keep their settings. */
  settings: string,
): Readonly<Record<string, Client>> {
  const config = environment.XDG_CONFIG_HOME || join(home, ".config");
  const extensions = join(settings, "Code/User/globalStorage");
  const cline = join(extensions, "saoudrizwan.claude-dev");
  const roo = join(extensions, "rooveterinaryinc.roo-cline");
  const junie = join(home, ".junie");
  const opencode = join(platform === "win32" ? join(home, ".config") : config, "opencode");
  const servers = jsonFormat("mcpServers", strict);
  return {
    opencode: {
      title: "opencode",
      file: join(opencode, "opencode.json"),
      project: "opencode.json",
      trace: opencode,
      format: jsonFormat("mcp", loose),
      entry: (command, args) => ({ type: "local", command: [command, ...args], enabled: true }),
      remote: (url, headers) => ({ ...remoteAs("url", "remote")(url, headers, ""), enabled: true }),
      afterwards: "Start a new session.",
    },
    "copilot-cli": {
      title: "Copilot CLI",
      file: join(home, ".copilot/mcp-config.json"),
      trace: join(home, ".copilot"),
      format: servers,
      entry: (command, args) => ({ type: "local", command, args, tools: ["*"] }),
      remote: (url, headers) => ({ ...remoteAs("url", "http")(url, headers, ""), tools: ["*"] }),
      afterwards: "Start a new session; /mcp show lists the servers.",
    },
    windsurf: {
      title: "Windsurf",
      file: join(home, ".codeium/windsurf/mcp_config.json"),
      trace: join(home, ".codeium/windsurf"),
      format: servers,
      entry: plain,
      remote: remoteAs("serverUrl"),
      afterwards: "Refresh the servers in Cascade's MCP panel.",
    },
    cline: {
      title: "Cline",
      file: join(cline, "settings/cline_mcp_settings.json"),
      trace: cline,
      format: servers,
      entry: plain,
      remote: remoteAs("url", "streamableHttp"),
      afterwards: "Cline's MCP panel lists it under Configure.",
    },
    roo: {
      title: "Roo Code",
      file: join(roo, "settings/mcp_settings.json"),
      project: ".roo/mcp.json",
      trace: roo,
      format: servers,
      entry: plain,
      remote: remoteAs("url", "streamable-http"),
      afterwards: "Roo's MCP panel lists it.",
    },
    qwen: {
      title: "Qwen Code",
      file: join(home, ".qwen/settings.json"),
      project: ".qwen/settings.json",
      trace: join(home, ".qwen"),
      format: jsonFormat("mcpServers", { comments: true, trailingCommas: false }),
      entry: plain,
      remote: remoteAs("httpUrl"),
      afterwards: newSession,
    },
    continue: {
      title: "Continue",
      file: join(home, ".continue/mcpServers/polyfs.json"),
      project: ".continue/mcpServers/polyfs.json",
      trace: join(home, ".continue"),
      format: servers,
      entry: plain,
      remote: remoteAs("url", "streamable-http"),
      afterwards: "Reload Continue; it offers MCP tools in agent mode.",
    },
    junie: {
      title: "JetBrains Junie",
      file: join(junie, "mcp/mcp.json"),
      project: ".junie/mcp/mcp.json",
      trace: junie,
      format: servers,
      entry: plain,
      afterwards: "Junie's MCP settings list it.",
    },
  };
}
