// `polyfs tools`: what a dialect offers, for people.
import { advertisedName } from "../contract/call.ts";
import { defaultSettings } from "../contract/settings.ts";
import { columns } from "./columns.ts";
import type { Config } from "./config.ts";
import { chooseDialect } from "./dialect.ts";

export async function listTools(config: Config): Promise<number> {
  const dialect = await chooseDialect(config.dialect);
  const settings = { ...defaultSettings, plainNames: config["plain-names"] };
  const rows = dialect.tools.map(
    tool => [advertisedName(dialect, tool, settings), `${tool.effect}: ${tool.title}`] as const,
  );
  process.stdout.write(columns(rows));
  return 0;
}
