// The text of --help, made from the tables of options, commands and dialects.
import { defaultDialect, dialects } from "../dialects/index.ts";
import { columns, lineWidth, wrap } from "./columns.ts";
import type { Subcommands } from "./commands/command.ts";
import { rowOf } from "./option-row.ts";
import { optionNames } from "./options.ts";

export async function help(commands: Subcommands): Promise<string> {
  const loaded = await Promise.all(Object.values(dialects).map(load => load()));
  const named = loaded.map(
    ({ name, summary }) => [name, name === defaultDialect ? `${summary} (default)` : summary] as const,
  );
  const rows = Object.entries(commands).map(([name, { summary }]) => [`polyfs ${name}`, summary] as const);
  const paragraph = (text: string) => wrap(text, lineWidth()).join("\n");
  return `Usage: polyfs [options] [DIR...]
       polyfs COMMAND [options] ...

${paragraph("Serves directories to an MCP client on stdin and stdout. Each DIR is read-write.")}

Commands:
${columns(rows, "  ")}
Options:
${columns(optionNames.flatMap(rowOf), "  ")}
Dialects:
${columns(named, "  ")}
${paragraph('Each option can also be set in the environment (--allow-read as POLYFS_ALLOW_READ; several directories are joined as in PATH, and those without an option are POLYFS_DIRECTORIES) or in the file of --config ("allowRead" or "allow-read"; "directories"). The command line overrides the environment, which overrides the file. All directories come from the first of these that names any.')}

${paragraph("Each command has its own --help, with examples. Exit codes: 0 success, 1 failure or refusal, 2 usage error.")}
`;
}
