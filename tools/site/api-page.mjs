// The reference page of the library, from API Extractor's model: every declaration with its comment, its signature
// and its members.
const groups = [
  ["Function", "Functions"],
  ["Class", "Classes"],
  ["Interface", "Interfaces"],
  ["TypeAlias", "Types"],
  ["Variable", "Constants"],
];

export function apiPage({ members: [{ members }] }) {
  const parts = [
    '# Library API\n\nWhat `import … from "polyfs"` exports, and the types that these declarations mention. [Embed the tools in a program](guides/embed.md) has examples. Versions follow semantic versioning: `npm run api` compares these declarations with those of the last release.\n',
  ];
  for (const [kind, title] of groups) {
    const own = members.filter(member => member.kind === kind && member.name !== "named");
    parts.push(`## ${title}\n`, ...own.map(declaration));
  }
  return parts.join("\n");
}

function declaration(member) {
  const { name, members = [] } = member;
  const rows = members
    .filter(({ kind }) => kind !== "Constructor")
    .map(part => `| ${cellCode(signature(part))} | ${cell(comment(part))} |`);
  const table = rows.length === 0 ? "" : `| member | |\n|---|---|\n${rows.join("\n")}\n`;
  return `### ${name}\n\n${comment(member)}\n\n\`\`\`ts\n${signature(member)}\n\`\`\`\n\n${table}`;
}

function signature({ excerptTokens }) {
  return excerptTokens
    .map(({ text }) => text)
    .join("")
    .replace(/^export declare /, "")
    .replace(/^export /, "")
    .replace(/;$/, "")
    .trim();
}

/** The text of a comment, without its stars; a parameter becomes a line of its own. */
function comment({ docComment = "" }) {
  return docComment
    .replace(/^\/\*\*/, "")
    .replace(/\*\/\s*$/, "")
    .split("\n")
    .map(line => line.replace(/^\s*\* ?/, ""))
    .join("\n")
    .replaceAll(/\{@link (\w+)\}/g, "`$1`")
    .replaceAll(/^@param (\w+)(?: -)?/gm, "\n`$1`:")
    .trim();
}

function cellCode(text) {
  return `\`${text.replaceAll(/\s+/g, " ").replaceAll("`", "'").replaceAll("|", "\\|")}\``;
}

function cell(text) {
  return text.replaceAll(/\s+/g, " ").replaceAll("|", "\\|");
}
