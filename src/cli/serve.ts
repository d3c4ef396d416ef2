// Serving: opens the directories and hands them, with the dialect, to the protocol.
import { defaultSettings } from "../contract/settings.ts";
import { serveStdio } from "../mcp/stdio.ts";
import { version } from "../version.ts";
import type { Config } from "./config.ts";
import { chooseDialect } from "./dialect.ts";
import { openDirectories } from "./directories.ts";

export async function serve(config: Config): Promise<number> {
  const dialect = await chooseDialect(config.dialect);
  using engine = openDirectories(config, dialect);
  const settings = { ...defaultSettings, plainNames: config["plain-names"] };
  await serveStdio({ dialect, engine, settings, version });
  return 0;
}
