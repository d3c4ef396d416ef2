// The licences of what is bundled. The package contains the code of other packages, so their notices are in one text,
// generated from the bundler's output: a new dependency cannot be forgotten.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { grammarPackage } from "./grammars.mjs";

/** Where the notices are, below dist/. */
export const noticesName = "THIRD-PARTY-NOTICES.txt";

/** The text, the same for the same inputs. Packages with the same licence to the letter share it. */
export function notices(root, metafiles) {
  const byText = new Map();
  for (const { name, version, license, text } of bundledPackages(root, metafiles)) {
    const heads = byText.get(text) ?? [];
    byText.set(text, [...heads, `${name} ${version} (${license})`]);
  }
  const parts = [...byText].map(([text, heads]) => `${rule}\n${heads.join("\n")}\n${rule}\n\n${text}\n`);
  return `polyfs contains code of the following packages, under their licences.\n\n${parts.join("\n")}`;
}

const rule = "-".repeat(80);

/** Every package with code in the outputs, sorted by name. */
export function bundledPackages(root, metafiles) {
  const found = new Map();
  for (const input of [...metafiles.flatMap(codeIn), `${grammarPackage}/package.json`]) {
    const folder = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(input)?.[0];
    if (folder === undefined) continue;
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    found.set(`${name} ${version}`, { name, version, license, text: licenceIn(root, folder, name) });
    for (const inner of inside(root, input)) found.set(`${inner.name} ${inner.version}`, inner);
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

function codeIn({ outputs }) {
  return Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
}

/** What a package has bundled in its turn, by the marks that its bundler leaves: `#region …/.pnpm/ajv@8.18.0/…`. */
function inside(root, input) {
  const marks = readFileSync(join(root, input), "utf8").matchAll(
    /#region \S*node_modules\/\.pnpm\/[^/\s]*?@(\d[^/\s_(]*)[^/\s]*\/node_modules\/((?:@[^/\s]+\/)?[^/\s]+)\//g,
  );
  return [...new Map([...marks].map(([, version, name]) => [name, version]))].map(([name, version]) => {
    const folder = join("node_modules", name);
    const { license } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    return { name, version, license, text: licenceIn(root, folder, name) };
  });
}

/** From its file, or from its section in the README where the package has it only there. */
function licenceIn(root, folder, name) {
  const files = readdirSync(join(root, folder)).sort();
  const file = files.find(entry => /^(licen[cs]e|copying)(\.(md|txt))?$/i.test(entry));
  if (file !== undefined) return textOf(join(root, folder, file)).trim();
  const readme = files.find(entry => /^readme(\.md)?$/i.test(entry));
  const section =
    readme && /^#+ *licen[cs]e\s*$([\s\S]*?)(?=^#|(?![\s\S]))/im.exec(textOf(join(root, folder, readme)));
  const text = section?.[1]?.trim() ?? "";
  if (!/Permission is hereby granted[\s\S]*THE SOFTWARE IS PROVIDED/i.test(text))
    throw new Error(`${name} is bundled, and ${folder} has no licence text`);
  return text;
}

function textOf(path) {
  return readFileSync(path, "utf8").replaceAll("\r\n", "\n");
}
