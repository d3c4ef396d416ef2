// Outlines of real files: their share of the bytes, and that every line they name is one of the file.
import { outlineLines } from "../../src/dialects/polyfs/code-outline.ts";
import { type Structure, structureOf } from "../../src/engine/syntax/structure.ts";
import type { Trial } from "../suite.ts";
import { corpus, textAt } from "./corpus.ts";

export async function outlines(trial: Trial): Promise<void> {
  await brokenOutlines(trial);
  const shares: number[] = [];
  const files = ["ts", "js", "py"].flatMap(language =>
    corpus(language, trial.long ? 300 : 30, list => trial.chance.shuffled(list)),
  );
  for (const path of files) {
    const text = textAt(path);
    await trial.tally.attempt(`outline ${path}`, async () => {
      const structure = await structureOf(path, text);
      const lines = text.split("\n").length;
      for (const { name, top, from, to, nameStart, nameEnd } of structure.declared) {
        if (!(top >= 1 && top <= from && from <= to && to <= lines))
          throw new Error(`${name}: lines ${top}-${to}`);
        const last = name.slice(name.lastIndexOf(".") + 1).replace(/^#/, "");
        if (structure.known && !text.slice(nameStart, nameEnd).includes(last))
          throw new Error(`${name} is elsewhere`);
      }
      const outline = outlineLines(structure, Buffer.byteLength(text), 64_000).join("\n");
      const share = Buffer.byteLength(outline) / Buffer.byteLength(text);
      if (structure.known && text.length > 10_000) shares.push(share);
      // 1,500 bytes are allowed for any file, and a line that says what is left out.
      if (share > 0.1 && Buffer.byteLength(outline) > 1_700)
        throw new Error(`an outline of ${(100 * share).toFixed(1)} % of the file`);
    });
  }
  const mean = shares.reduce((sum, one) => sum + one, 0) / Math.max(1, shares.length);
  trial.say(
    `outlines: ${(100 * mean).toFixed(1)} % of the bytes on average (${shares.length} files over 10 KB)`,
  );
}

/** Statements that Python cannot read, which end with their line for a reader. */
const broken = ["zz = f(1", "zz = [1, 2", 'zz = {"a": (1', "zz = f(1 2)", "zz ==", "if zz", "zz = 1)"];

/** A file in which one line more does not parse has the same functions and classes, each where it was. */
async function brokenOutlines(trial: Trial): Promise<void> {
  const { chance } = trial;
  for (const path of corpus("py", trial.long ? 300 : 30, list => chance.shuffled(list))) {
    const text = textAt(path);
    const lines = text.split("\n");
    const whole = await structureOf(path, text);
    const places = whole.declared.filter(
      ({ kind, to, end }) => kind === "variable" && isLineEnd(text, end) && to > 0,
    );
    if (places.length === 0) continue;
    const { to, start } = chance.pick(places);
    const indent = text.slice(text.lastIndexOf("\n", start - 1) + 1, start);
    if (indent.trim() !== "") continue;
    const line = chance.pick(broken);
    await trial.tally.attempt(`outline ${path} with ${JSON.stringify(line)} as line ${to + 1}`, async () => {
      const made = await structureOf(path, lines.toSpliced(to, 0, indent + line).join("\n"));
      if (!made.known) return;
      const names = ({ declared }: Structure, shift: number) =>
        declared
          .filter(({ kind }) => kind === "function" || kind === "class")
          .map(({ name, from }) => `${from > to ? from - shift : from} ${name}`);
      const [wanted, found] = [names(whole, 0), names(made, 1)];
      const at = wanted.findIndex((name, i) => found[i] !== name);
      if (at >= 0 || found.length !== wanted.length)
        throw new Error(`${found[at] ?? "nothing"} instead of ${wanted[at]}`);
    });
  }
}

function isLineEnd(text: string, at: number): boolean {
  return /^[ \t\r]*(\n|$)/.test(text.slice(at, at + 200));
}
