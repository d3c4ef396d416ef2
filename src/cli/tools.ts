// `polyfs tools`: what a dialect offers, for people.
import { advertisedName } from "../contract/call.ts";
import { columns } from "./columns.ts";
import { readCommandLine } from "./command-line.ts";
import { configure } from "./config.ts";
import { chooseDialect } from "./dialect.ts";
import { print } from "./print.ts";
import { answered } from "./question.ts";
import { settingsOf } from "./settings.ts";

export async function listTools(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const line = readCommandLine(args, process.cwd());
  if (await answered(line)) return 0;
  const config = configure(line, environment, process.cwd());
  const dialect = await chooseDialect(config.dialect);
  const settings = settingsOf(config, dialect);
  const rows = dialect.tools.map(
    tool => [advertisedName(dialect, tool, settings), `${tool.effect}: ${tool.title}`] as const,
  );
  await print(process.stdout, columns(rows));
  return 0;
}
