// Files in many encodings, searched for the words in them: each word is found on its lines and on no other.
// The oracle is the text that was encoded; iconv-lite writes the bytes.
import iconv from "iconv-lite";
import type { Chance } from "../chance.ts";
import type { Trial } from "../suite.ts";
import { same, shown, Tree } from "./tree.ts";

const russian =
  "в начале было слово и слово было у нас оно стоит теперь на каждой строке этого файла потому что поиск должен " +
  "находить его везде где чтение его показывает а не только там где байты случайно совпадают";
const japanese =
  "これは にほんごの ぶんしょう です ことばを さがして みつける ための ファイル です ひらがなと カタカナが たくさん あります";
const english =
  "the quick brown fox jumps over the lazy dog while searching every file for words that reading shows";

/** Encodings with a language that they can be told by; `marked` ones have a byte-order mark. */
const forms: readonly { encoding: string; text: string; marked?: boolean }[] = [
  { encoding: "windows-1251", text: russian },
  { encoding: "koi8-r", text: russian },
  { encoding: "shift_jis", text: japanese },
  { encoding: "euc-jp", text: japanese },
  { encoding: "utf-16le", text: english },
  { encoding: "utf-16be", text: english },
  { encoding: "utf-16le", text: russian, marked: true },
  { encoding: "utf-16be", text: japanese, marked: true },
  { encoding: "utf-8", text: russian },
  { encoding: "utf-8", text: english, marked: true },
];

export async function encoded(trial: Trial, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (const form of forms)
      await trial.tally.attempt(`encoded ${form.encoding} ${round}`, () => compare(trial.chance, form));
  }
}

async function compare(chance: Chance, form: (typeof forms)[number]): Promise<void> {
  using tree = new Tree();
  const words = form.text.split(" ");
  const lines = Array.from({ length: 12 + chance.below(30) }, () =>
    Array.from({ length: 3 + chance.below(6) }, () => chance.pick(words)).join(" "),
  );
  const end = chance.pick(["\n", "\r\n", "\r"]);
  const text = lines.join(end) + chance.pick(["", end]);
  const bytes = iconv.encode(text, form.encoding, { addBOM: form.marked === true });
  const odd = form.marked && form.encoding.startsWith("utf-16") && chance.below(2) === 0;
  tree.add("file.txt", odd ? Buffer.concat([bytes, Buffer.from([0x41])]) : bytes);
  for (let i = 0; i < 60; i++) tree.add(`other/${i}.txt`, "nothing here\n");
  for (let i = 0; i < 4; i++) {
    const word = chance.pick(words);
    const expected = lines.flatMap((line, at) => (line.includes(word) ? [`file.txt:${at + 1}:${line}`] : []));
    for (const query of [
      { pattern: word, literal: true },
      { pattern: `${word.slice(0, -1)}[${word.slice(-1)}]` },
    ]) {
      const found = shown(await tree.search(query, { reading: "detected" })).map(line =>
        line.replace(/\ufffd$/, ""),
      );
      same(
        found,
        expected,
        `${JSON.stringify(query)} in ${form.encoding}, lines end with ${JSON.stringify(end)}`,
      );
    }
  }
}
