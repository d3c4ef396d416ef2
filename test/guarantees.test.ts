// Every guarantee in SECURITY.md has a row in docs/reliability.md that says what shows it, and every case, suite and
// test that such a row names exists.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
const textOf = (path: string) => readFileSync(join(root, path), "utf8");

/** The rows of all tables in a part of a page, without their headings. */
function rowsIn(page: string, heading: string): string[][] {
  const part = textOf(page).split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  return part
    .split("\n")
    .filter(line => line.startsWith("| ") && !line.startsWith("|--"))
    .map(line => line.slice(2, -2).split(" | "))
    .filter(([, shown = ""]) => shown !== "where" && shown !== "shown by");
}

/** The text of all suites, which hold the ids of their cases. */
const suites = readdirSync(join(root, "proof"), { recursive: true, encoding: "utf8" })
  .filter(name => name.endsWith(".ts"))
  .map(name => textOf(`proof/${name}`))
  .join("\n");

function exists(name: string): boolean {
  const [, suite] = /^proof (\S+)$/.exec(name) ?? [];
  if (suite !== undefined) return new RegExp(`^ {2}"?${suite}"?: async`, "m").test(textOf("proof/suites.ts"));
  const [, script] = /^npm run ([\w:-]+)/.exec(name) ?? [];
  if (script !== undefined) return JSON.parse(textOf("package.json")).scripts[script] !== undefined;
  if (name.startsWith("node ")) return existsSync(join(root, name.slice(5)));
  if (name.startsWith("test/")) return existsSync(join(root, name));
  return ["", ".test.ts", ".slow.test.ts", ".ts"].some(end => existsSync(join(root, "test", name + end)));
}

const rows = rowsIn("docs/reliability.md", "Which suite shows what");

it("every guarantee has a row", () => {
  const guarantees = rowsIn("SECURITY.md", "Guarantees").map(
    ([what = ""]) => /\*\*(.*?)\*\*/.exec(what)?.[1] ?? "",
  );
  expect(guarantees.length).toBeGreaterThan(20);
  const shown = rows.map(([what]) => what);
  expect(guarantees.map(what => what.replace(/[.,:]$/, "")).filter(what => !shown.includes(what))).toEqual(
    [],
  );
});

it("every row names cases, suites or tests, and each of them exists", () => {
  for (const [what = "", shown = ""] of rows) {
    const cases = [...shown.matchAll(/\b[ARP]\d+\b/g)].map(([id]) => id);
    const names = [...shown.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
    expect(cases.length + names.length, what).toBeGreaterThan(0);
    expect(
      cases.filter(id => !new RegExp(`["\`]${id}`).test(suites)),
      what,
    ).toEqual([]);
    expect(
      names.filter(name => !exists(name)),
      what,
    ).toEqual([]);
  }
});
