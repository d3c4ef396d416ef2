// Serving: opens the directories and hands them, with the dialect, to the protocol.
import { defaultSettings } from "../contract/settings.ts";
import { createLog } from "../mcp/log.ts";
import { serveStdio } from "../mcp/stdio.ts";
import { version } from "../version.ts";
import type { Config } from "./config.ts";
import { chooseDialect } from "./dialect.ts";
import { openDirectories } from "./directories.ts";

export async function serve(config: Config): Promise<void> {
  const log = createLog(config["log-level"]);
  const dialect = await chooseDialect(config.dialect);
  using engine = openDirectories(config, dialect);
  for (const { path, access } of engine.workspace.roots) log.info(`serving ${path} (${access})`);
  const settings = { ...defaultSettings, plainNames: config["plain-names"] };
  await serveStdio({ dialect, engine, settings, info: { name: "polyfs", version }, log });
}
