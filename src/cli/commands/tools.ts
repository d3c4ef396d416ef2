// `polyfs tools`: the tools of a dialect, with parameters and the cost of their definitions.
import { advertisedName, offeredTools } from "../../contract/call.ts";
import type { Dialect } from "../../contract/dialect.ts";
import type { Tool } from "../../contract/tool.ts";
import { Workspace } from "../../engine/workspace/workspace.ts";
import { listed } from "../../mcp/tools.ts";
import { columns, lineWidth, wrap } from "../columns.ts";
import type { Config } from "../config.ts";
import { chooseDialect } from "../dialect.ts";
import { missingTool } from "../missing-tool.ts";
import { print } from "../print.ts";
import { settingsOf } from "../settings.ts";
import { type Style, styleOf } from "../style.ts";
import { UsageError } from "../usage-error.ts";
import { command, directoryOptions } from "./command.ts";
import { parametersOf, signatureOf, tokensOf } from "./parameters.ts";
import { whereTheUserStands } from "./standing.ts";

interface Offered {
  readonly tool: Tool;
  readonly name: string;
  readonly tokens: number;
}

export const tools = command({
  name: "tools",
  operands: "[TOOL]",
  description:
    "Lists the tools that a dialect offers with these options: what each does, its parameters (? marks optional ones) and roughly how many tokens its definition costs a model. With TOOL, prints everything about that tool.",
  own: { json: { help: "Print the definitions as clients get them" } },
  options: ["dialect", "plain-names", ...directoryOptions, "allow-outside-workspace", "allow-run", "run"],
  examples: [
    ["polyfs tools --dialect agent-tools", "the nine tools of that dialect"],
    ["polyfs tools --dialect fs read_file", "one tool, with all its parameters"],
  ],
  most: 1,
  async run({ operands: [wanted], own, config }) {
    const dialect = await chooseDialect(config.dialect);
    const standing = whereTheUserStands(config);
    const offered = offeredBy(dialect, standing);
    const shown = wanted === undefined ? offered : [toolNamed(wanted, offered, dialect, standing)];
    const style = styleOf(process.stdout);
    if (own.has("json")) {
      const definitions = shown.map(({ tool, name }) => listed(tool, name));
      await print(process.stdout, `${JSON.stringify(definitions, undefined, 2)}\n`);
    } else if (wanted === undefined) await print(process.stdout, overview(dialect, offered, style));
    else for (const one of shown) await print(process.stdout, details(one, style));
    return 0;
  },
});

function offeredBy(dialect: Dialect, config: Config): Offered[] {
  const settings = settingsOf(config, dialect);
  using workspace = Workspace.open(config.grants, { state: config["state-dir"], onlyLooks: true });
  return offeredTools(dialect, { workspace, settings }).map(tool => {
    const name = advertisedName(dialect, tool, settings);
    return { tool, name, tokens: tokensOf(listed(tool, name)) };
  });
}

function toolNamed(wanted: string, offered: readonly Offered[], dialect: Dialect, config: Config): Offered {
  const found = offered.find(({ tool, name }) => [tool.name, name].includes(wanted));
  if (found !== undefined) return found;
  using workspace = Workspace.open(config.grants, { state: config["state-dir"], onlyLooks: true });
  const missing = missingTool(dialect, wanted, { workspace, settings: settingsOf(config, dialect) });
  throw new UsageError(missing?.reason ?? `there is no tool ${JSON.stringify(wanted)}`);
}

function overview(dialect: Dialect, offered: readonly Offered[], { bold, dim }: Style): string {
  const width = Math.max(...offered.map(({ name }) => name.length));
  const lines = offered.map(({ tool, name, tokens }) => {
    const head = `${bold(name.padEnd(width))}  ${tool.effect}: ${tool.title} ${dim(`(~${tokens} tokens)`)}\n`;
    return `${head}${wrap(signatureOf(tool.input), lineWidth() - 4)
      .map(line => `    ${line}\n`)
      .join("")}`;
  });
  const sum = offered.reduce((total, { tokens }) => total + tokens, 0);
  const left = dialect.tools.filter(tool => !offered.some(one => one.tool === tool));
  const more =
    left.length === 0 ? "" : `\nNot offered with these options: ${left.map(({ name }) => name).join(", ")}`;
  return `${lines.join("")}\n${dialect.name}: ${offered.length} tools, about ${sum} tokens${more}\n`;
}

function details({ tool, name, tokens }: Offered, { bold, dim }: Style): string {
  const rows = parametersOf(tool.input).map(
    ({ name: parameter, required, type, description, standard }) =>
      [
        `${parameter}${required ? "" : "?"}`,
        `${type}${standard === undefined ? "" : ` (default ${standard})`}${description === "" ? "" : `: ${description}`}`,
      ] as const,
  );
  const parameters = rows.length === 0 ? "  none\n" : columns(rows, "  ");
  return `${bold(name)}  ${tool.effect}: ${tool.title} ${dim(`(~${tokens} tokens)`)}\n\n${tool.description}\n\nParameters:\n${parameters}`;
}
