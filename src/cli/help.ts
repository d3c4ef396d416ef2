// The text of --help, made from the tables of options, commands and dialects.
import { defaultDialect, dialects } from "../dialects/index.ts";
import { columns } from "./columns.ts";
import { commands } from "./commands.ts";
import { type Option, optionNames, options } from "./options.ts";

export async function help(): Promise<string> {
  const loaded = await Promise.all(Object.values(dialects).map(load => load()));
  const named = loaded.map(
    ({ name, summary }) => [name, name === defaultDialect ? `${summary} (default)` : summary] as const,
  );
  return `Usage: polyfs [options] [DIR...]

Serves directories to an MCP client on stdin and stdout. Each DIR is read-write.

Options:
${columns(optionNames.flatMap(row), "  ")}
Dialects:
${columns(named, "  ")}
Commands:
${columns(
  Object.entries(commands).map(([name, { summary }]) => [`polyfs ${name}`, summary] as const),
  "  ",
)}
Each option can also be set in the environment (--allow-read as
POLYFS_ALLOW_READ; several directories are joined as in PATH, and those without
an option are POLYFS_DIRECTORIES) or in the file of --config ("allowRead" or
"allow-read"; "directories"). The command line goes first, then the environment,
then the file. Directories all come from the first of these that names any.
`;
}

function row(name: keyof typeof options): [string, string][] {
  const option: Option = options[name];
  if (option.only === "not the command line") return [];
  const short = option.short === undefined ? "" : `-${option.short}, `;
  switch (option.kind) {
    case "root":
      return [[`--${name} DIR`, option.help]];
    case "flag":
      return [[`${short}--${option.default ? "no-" : ""}${name}`, option.help]];
    case "text":
      return [[`--${name} ${option.value}`, option.help]];
    case "number":
      return [[`--${name} N`, `${option.help} (default ${option.default})`]];
    case "choice": {
      const { choices, implied, value } = option;
      const spelled = implied === undefined ? `--${name} ${value}` : `--${name}[=${value}]`;
      const standard = option.default === undefined ? `${implied} if left out` : `default ${option.default}`;
      return [[spelled, `${option.help}: ${choices.join(", ")} (${standard})`]];
    }
  }
}
