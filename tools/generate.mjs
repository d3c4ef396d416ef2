// Generates the parts of the documents that describe the code: the tools of each dialect, the errors, the options, and
// the manifests. In pages, text outside of the marks is written by hand and stays. With --check it only reports what is
// stale.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { faultSamples } from "./fault-samples.mjs";
import { install } from "./install.mjs";
import { mcpbManifest, registryEntry } from "./manifests.mjs";

install();
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const metadata = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const source = await load();
const loaded = await Promise.all(Object.values(source.dialects).map(load => load()));

/** The data of a fault without an example: each field is its own name. */
const namedData = new Proxy({}, { get: (_, name) => (typeof name === "string" ? `<${name}>` : undefined) });

const pages = [
  ...loaded.map(dialect => [`docs/dialects/${dialect.name}.md`, "tools", toolsOf(dialect), titleOf(dialect)]),
  ["docs/errors.md", "errors", errors(), "# Errors\n"],
  ["docs/options.md", "options", optionList(), "# Options\n"],
  ["docs/commands.md", "commands", await commandHelp(), "# Commands\n"],
  ["docs/guides/embed.md", "agent-loop", example("agent-loop"), "# Embed the tools in a program\n"],
  ["docs/guides/embed.md", "own-tool", example("own-tool")],
  ["docs/guides/embed.md", "serve", example("serve")],
  ["docs/guides/embed.md", "http-handler", example("http-handler")],
  ["docs/guides/embed.md", "history", example("history")],
  ["docs/guides/embed.md", "forks", example("forks")],
  ["docs/guides/embed.md", "rules", example("rules")],
  ...["express", "fastify", "hono"].map(name => [
    "docs/guides/embed.md",
    name,
    codeBlock(`docs/adapters/${name}.ts`),
  ]),
  ...["ai-sdk", "langchain", "openai-agents", "mastra"].map(name => [
    "docs/guides/frameworks.md",
    name,
    codeBlock(`docs/adapters/${name}.ts`),
  ]),
  ["README.md", "dialects", dialectTable()],
];

const { tools: defaultTools } = loaded.find(({ name }) => name === source.defaultDialect);
const files = [
  [
    "packaging/mcpb.json",
    mcpbManifest(
      metadata,
      defaultTools.filter(({ effect }) => effect !== "runs"),
    ),
  ],
  ["server.json", registryEntry(metadata)],
  [
    "docs/policy.schema.json",
    { $schema: "https://json-schema.org/draft/2020-12/schema", ...source.policySchema },
  ],
];

const stale = [];
for (const [name, content] of files) {
  const text = `${JSON.stringify(content, undefined, 2)}\n`;
  if (text === textAt(join(root, name))) continue;
  stale.push(name);
  if (!process.argv.includes("--check")) writeFileSync(join(root, name), text);
}
for (const [page, mark, content, head = ""] of pages) {
  const file = join(root, page);
  const before = textAt(file) ?? `${head}\n${opening(mark)}\n${closing(mark)}\n`;
  const after = withSection(before, page, mark, content);
  if (after === textAt(file)) continue;
  stale.push(page);
  if (process.argv.includes("--check")) continue;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, after);
}
for (const page of new Set(stale)) console.log(process.argv.includes("--check") ? `stale: ${page}` : page);
if (stale.length > 0 && process.argv.includes("--check")) {
  console.error("Run: npm run generate");
  process.exitCode = 1;
}

/** The sources, bundled for this one run. */
async function load() {
  const { build } = await import("esbuild");
  const bundle = join(root, `.cache/generate-${process.pid}.mjs`);
  await build({
    stdin: {
      contents: `export { defaultDialect, dialects } from "./src/dialects/index.ts";
        export { commands } from "./src/cli/commands.ts";
        export { environmentName, optionNames, options } from "./src/cli/options.ts";
        export { rowOf } from "./src/cli/option-row.ts";
        export { parametersOf, tokensOf } from "./src/cli/commands/parameters.ts";
        export { listed } from "./src/mcp/tools.ts";
        export { plainWording } from "./src/contract/wording.ts";
        export { policySchema } from "./src/cli/policy/policy-file.ts";
        export { Fault } from "./src/engine/fault.ts";`,
      resolveDir: root,
    },
    absWorkingDir: root,
    outfile: bundle,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    external: ["@vscode/ripgrep", "#*"], // #…: parts of dist, which may not be there yet
    banner: { js: "const require=process.getBuiltinModule;" },
    logLevel: "error",
  });
  try {
    return await import(pathToFileURL(bundle).href);
  } finally {
    rmSync(bundle);
  }
}

function textAt(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

function opening(mark) {
  return `<!-- generated: ${mark} -->`;
}

function closing(mark) {
  return `<!-- end of ${mark} -->`;
}

function withSection(text, page, mark, content) {
  const from = text.indexOf(opening(mark));
  const to = text.indexOf(closing(mark));
  if (from < 0 || to < from) {
    if (page.startsWith("docs/dialects/"))
      return withSection(`${text}\n${opening(mark)}\n${closing(mark)}\n`, page, mark, content);
    throw new Error(`${page} has no place for ${mark}: ${opening(mark)} … ${closing(mark)}`);
  }
  return `${text.slice(0, from + opening(mark).length)}\n${content.trim()}\n${text.slice(to)}`;
}

function titleOf({ name, summary }) {
  return `# The \`${name}\` dialect\n\n${summary[0].toUpperCase()}${summary.slice(1)}.\n`;
}

function toolsOf(dialect) {
  const effects = { reads: "read-only", writes: "changes files", runs: "runs commands" };
  const parts = dialect.tools.map(tool => {
    const rows = source.parametersOf(tool.input).map(({ name, required, type, description, standard }) => {
      const without = required ? "required" : standard === undefined ? "" : code(standard);
      return `| \`${name}\` | ${code(type)} | ${without} | ${cell(description)} |`;
    });
    const table =
      rows.length === 0
        ? "No parameters."
        : ["| parameter | type | default | |", "|---|---|---|---|", ...rows].join("\n");
    const name = `${dialect.prefix ?? ""}${tool.name}`;
    return `### \`${name}\`\n\n**${tool.title}** (${effects[tool.effect]})${aliasesOf(tool)}.\n\n${tool.description.trim()}\n\n${table}\n`;
  });
  const tokens = dialect.tools.reduce((sum, tool) => sum + costOf(dialect, tool), 0);
  const start = {
    "working-directory": "the working directory is served",
    "client-roots": "the client's roots are served",
    "callers-choice": "the caller chooses one",
    none: "nothing is served",
    usage: "the server refuses to start",
  };
  return `## Tools\n\n${dialect.tools.length} ${dialect.tools.length === 1 ? "tool" : "tools"}, whose definitions take about ${tokens} tokens. Without a directory on the command line, ${start[dialect.withoutRoots]}.\n\n${parts.join("\n")}`;
}

function aliasesOf({ aliases = {} }) {
  const pairs = Object.entries(aliases).map(([alias, name]) => `\`${alias}\` for \`${name}\``);
  return pairs.length === 0 ? "" : `, also accepts ${pairs.join(", ")}`;
}

function costOf(dialect, tool) {
  return source.tokensOf(source.listed(tool, `${dialect.prefix ?? ""}${tool.name}`));
}

function code(text) {
  return `\`${text.replaceAll("|", "\\|").replaceAll("`", "'")}\``;
}

function cell(text) {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}

function dialectTable() {
  const rows = loaded.map(dialect => {
    const { name, summary, tools } = dialect;
    const tokens = tools.reduce((sum, tool) => sum + costOf(dialect, tool), 0);
    return `| [\`${name}\`](docs/dialects/${name}.md) | ${tools.length} | ${tokens} | ${cell(summary)} |`;
  });
  return ["| dialect | tools | tokens | |", "|---|---|---|---|", ...rows].join("\n");
}

/** Each fault as every dialect words it, from an example. */
function errors() {
  const codes = Object.keys(source.plainWording);
  const parts = codes.map(code => {
    const data = Object.hasOwn(faultSamples, code) ? faultSamples[code] : namedData;
    const rows = loaded.map(
      dialect => `| \`${dialect.name}\` | ${told(dialect, new source.Fault(code, data))} |`,
    );
    return `### \`${code}\`\n\n${cell(source.plainWording[code](data))}\n\n| dialect | what the caller gets |\n|---|---|\n${rows.join("\n")}\n`;
  });
  return `${parts.join("\n")}`;
}

function told(dialect, fault) {
  const tool = fault.code === "unknown_tool" ? undefined : dialect.tools[0];
  const outcome = dialect.failure(fault, { tool, revision: "2025-11-25" });
  if ("error" in outcome) return `JSON-RPC error ${outcome.error.code}: ${shown(outcome.error.message)}`;
  const text = outcome.content.map(item => item.text ?? "").join("\n");
  return `${outcome.isError ? "" : "a result without `isError`: "}${shown(text)}`;
}

function shown(text) {
  return text
    .split("\n")
    .filter(line => line !== "")
    .map(line =>
      code(line.replace(/[\0-\x1f]/g, sign => `\\x${sign.charCodeAt(0).toString(16).padStart(2, "0")}`)),
    )
    .join("<br>");
}

function optionList() {
  const rows = source.optionNames.flatMap(name => {
    const option = source.options[name];
    const [spelling = "(as an operand)", sentence = option.help] = source.rowOf(name)[0] ?? [];
    const only = option.only ?? "";
    const variable = only === "command line" ? "" : code(source.environmentName(name));
    const key = only === "command line" || only === "not the file" ? "" : code(camel(name));
    return [
      `| ${spelling.startsWith("(") ? "`DIR…`" : code(spelling)} | ${variable} | ${key} | ${cell(sentence)} |`,
    ];
  });
  const published = source.optionNames.flatMap(name =>
    Object.entries(source.options[name].published ?? {}).map(
      ([dialect, variable]) => `| \`${dialect}\` | \`${variable}\` | \`--${name}\` |`,
    ),
  );
  const more =
    published.length === 0
      ? ""
      : `\n\nVariables that contracts publish count when that dialect is served:\n\n| dialect | variable | means |\n|---|---|---|\n${published.join("\n")}`;
  return `| command line | environment | file | |\n|---|---|---|---|\n${rows.join("\n")}${more}`;
}

function camel(name) {
  return name.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase());
}

async function commandHelp() {
  const parts = [];
  for (const [name, { load }] of Object.entries(source.commands)) {
    const { about } = await load();
    const { operands, description, own, examples } = about;
    const options = Object.entries(own).map(
      ([option, { value, help }]) =>
        `| ${code(`--${option}${value === undefined ? "" : ` ${value}`}`)} | ${cell(help)} |`,
    );
    const table = options.length === 0 ? "" : `\n| option | |\n|---|---|\n${options.join("\n")}\n`;
    const lines = examples.map(([line, what]) => `${line}   # ${what}`).join("\n");
    parts.push(
      `## \`polyfs ${name}\`\n\n\`polyfs ${name} [options]${operands === "" ? "" : ` ${operands}`}\`\n\n${cell(description)}\n${table}\n\`\`\`sh\n${lines}\n\`\`\`\n`,
    );
  }
  return parts.join("\n");
}

function example(name) {
  return codeBlock(`docs/examples/${name}.ts`);
}

function codeBlock(file) {
  return `\`\`\`ts\n${readFileSync(join(root, file), "utf8").trim()}\n\`\`\``;
}
