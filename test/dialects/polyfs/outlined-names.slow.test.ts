// Everything that an outline prints can be named. Real files of several languages: each name of their outlines gives
// its own declaration, or is refused with the candidates where several have it; none is guessed.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Declared } from "../../../src/engine/syntax/declared.ts";
import { isListed } from "../../../src/engine/syntax/outline.ts";
import { structureOf } from "../../../src/engine/syntax/structure.ts";
import { Fixture } from "./fixture.ts";

const repository = join(import.meta.dirname, "../../..");
const perLanguage = 40;

/** Some files of a language, spread over all that there are. */
function filesOf(names: RegExp, folder = join(repository, "node_modules")): string[] {
  const all = (existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : [])
    .filter(name => names.test(name) && !/(^|\/)\./.test(name))
    .map(name => join(folder, name))
    .filter(path => statSync(path, { throwIfNoEntry: false })?.isFile() && statSync(path).size < 60_000)
    .sort();
  const step = Math.max(1, Math.floor(all.length / perLanguage));
  return all.filter((_, i) => i % step === 0).slice(0, perLanguage);
}

/** The names under which an outline shows a declaration: its own, and the one that an assignment has there. */
function namesOf({ name, head }: Declared): string[] {
  const assigned = /^(?:[\w$]+\.)+[\w$]+(?= = )/.exec(head)?.[0];
  return [...new Set([name, assigned ?? name])].filter(one => !one.includes("\n"));
}

describe("a name that an outline shows", () => {
  const languages: [string, string[]][] = [
    ["JavaScript", filesOf(/\.c?js$/)],
    ["TypeScript", filesOf(/\.ts$/)],
    ["CSS", filesOf(/\.css$/)],
    ["shell", filesOf(/\.sh$/)],
    ["Python", filesOf(/^[a-m]\w*\.py$/, "/usr/lib/python3.11")],
    ["C", filesOf(/\.h$/, "/usr/include/linux")],
  ];

  it.each(languages)(
    "is accepted in %s, or refused with the candidates",
    async (_, paths) => {
      const files = paths.map((path, i) => ({
        as: `f${i}${extname(path)}`,
        path,
        text: readFileSync(path, "utf8").replaceAll("\r\n", "\n"),
      }));
      await using fixture = new Fixture(Object.fromEntries(files.map(({ as, text }) => [as, text])));
      const server = await fixture.serve();
      let asked = 0;
      for (const { as, path, text } of files) {
        const { declared } = await structureOf(as, text, false);
        // A declaration that only announces another one stands for that.
        const own = declared.filter(one => isListed(one) && one.kind !== "prototype").slice(0, 25);
        for (const one of own)
          for (const name of namesOf(one)) {
            asked++;
            const { content } = await server.result("read_file", { path: `${as}#${name}`, limit: 1 });
            const said = content.map(item => item.text ?? "").join("\n");
            const lines = `${one.top}-${one.to}`;
            const isCandidate = new RegExp(`[ :]${lines}(?!\\d)|…`).test(said);
            const isNamed =
              said.includes(`· lines ${lines}]`) ||
              said.includes(`· line ${one.top}]`) ||
              (said.startsWith("ambiguous: ") && isCandidate);
            expect(isNamed, `${path}#${name}, ${lines}: ${said.slice(0, 600)}`).toBe(true);
          }
      }
      if (paths.length > 20) expect(asked).toBeGreaterThan(20);
    },
    240_000,
  );
});
