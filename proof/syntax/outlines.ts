// Outlines of real files: their share of the bytes, and that every line they name is one of the file.
import { outlineLines } from "../../src/dialects/polyfs/code-outline.ts";
import { structureOf } from "../../src/engine/syntax/structure.ts";
import type { Trial } from "../suite.ts";
import { corpus, textAt } from "./corpus.ts";

export async function outlines(trial: Trial): Promise<void> {
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
