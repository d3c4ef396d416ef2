// Texts of many languages in many encodings, made by iconv. An encoding that is called certain is the right one; one
// that is not is among the likely ones; and an edit, once the encoding is named, gives the bytes that iconv gives for
// the edited text. Where it is not named, no new text beyond ASCII gets into a file.
import { execFileSync } from "node:child_process";
import { Fault } from "../../src/engine/fault.ts";
import { detect, isNoText } from "../../src/engine/text/detect.ts";
import { likelyEncodings } from "../../src/engine/text/likely.ts";
import { decode, encode, rewrite } from "../../src/engine/text/text.ts";
import type { Chance } from "../chance.ts";
import type { Suite, Trial } from "../suite.ts";

const languages: readonly { readonly words: string; readonly encodings: readonly string[] }[] = [
  {
    words: "le cœur a été brisé où naïve garçon forêt Noël déjà vu à la plage côté sûr élève français",
    encodings: ["iso-8859-15", "windows-1252"],
  },
  { words: "“größe” – straße über schön ärger Öl süß € können müßig Äpfel", encodings: ["windows-1252"] },
  {
    words: "größe straße über schön ärger Öl süß können müßig",
    encodings: ["iso-8859-1", "iso-8859-15", "windows-1250"],
  },
  {
    words: "el niño mañana corazón ¿qué? año señor también está café",
    encodings: ["windows-1252", "iso-8859-1"],
  },
  { words: "zażółć gęślą jaźń łódź świąt przyjść mąż książka", encodings: ["windows-1250", "iso-8859-2"] },
  { words: "příliš žluťoučký kůň úpěl ďábelské ódy řeřicha", encodings: ["windows-1250", "iso-8859-2"] },
  { words: "árvíztűrő tükörfúrógép őszi hűvös idő", encodings: ["windows-1250", "iso-8859-2"] },
  {
    words: "καλημέρα κόσμε ελληνικό κείμενο δοκιμή της κωδικοποίησης αρχείο",
    encodings: ["windows-1253", "iso-8859-7"],
  },
  {
    words: "это обычный русский текст который нужен для проверки кодировки файла",
    encodings: ["windows-1251", "koi8-r", "iso-8859-5"],
  },
  { words: "güzel ağaç şeker çocuk ığdır öğretmen", encodings: ["windows-1254"] },
  {
    words: "これは日本語のテキストです ファイルの文字コードを調べます ひらがなとカタカナ",
    encodings: ["shift_jis", "euc-jp"],
  },
  {
    words: "日本語 文字 田中 東京 大阪 京都 名前 一覧 番号 住所 電話 会社",
    encodings: ["shift_jis", "euc-jp"],
  },
  {
    words: "这是一个简体中文的文本文件 里面有很多常用的汉字和标点 我们需要足够的文字",
    encodings: ["gb18030"],
  },
  { words: "이것은 한국어 텍스트 파일입니다 문자 인코딩을 확인하기 위한 시험입니다", encodings: ["euc-kr"] },
];

export const encodingsSuite: Suite = {
  name: "encodings",
  async run(trial) {
    const until = trial.minutes === undefined ? 0 : Date.now() + trial.minutes * 60_000;
    do {
      for (const { words, encodings } of languages)
        for (const encoding of encodings)
          for (let i = trial.long ? 60 : 4; i > 0; i--) await oneText(trial, words.split(" "), encoding);
      await marks(trial);
    } while (Date.now() < until);
  },
};

function textOf(words: readonly string[], chance: Chance): string {
  const word = () =>
    chance.below(4) === 0 ? chance.pick(["key", "value", "x = 1;", "//"]) : chance.pick(words);
  const line = () => Array.from({ length: 1 + chance.below(8) }, word).join(" ");
  return Array.from({ length: 1 + chance.below(chance.pick([2, 4, 30])) }, () => `${line()}\n`).join("");
}

async function oneText({ chance, tally }: Trial, words: readonly string[], encoding: string): Promise<void> {
  const text = textOf(words, chance);
  const bytes = iconv(text, encoding);
  if (bytes.every(byte => byte < 0x80)) return;
  const what = `${encoding} ${JSON.stringify(text)}`;
  await tally.attempt(`found ${what}`, async () => {
    const { encoding: found, certain } = detect(bytes, { legacy: true });
    const shown = (await decode("f", bytes, { legacy: true })).raw;
    if (certain && shown !== text) throw new Error(`called certain, and read as ${found}: ${shown}`);
    if (certain) return;
    const likely = likelyEncodings(bytes, found);
    if (!(await someReadAs(likely, bytes, text))) throw new Error(`likely are only ${likely.join(", ")}`);
  });
  const added = `${chance.pick(words)} ${chance.pick(words)}`;
  await tally.attempt(`edited ${what} ${added}`, async () => {
    const at = text.indexOf("\n") + 1;
    const splice = [{ start: at, end: at, text: `${added}\n` }];
    const named = await decode("f", bytes, { encoding, strict: true });
    const wanted = iconv(`${text.slice(0, at) + added}\n${text.slice(at)}`, encoding);
    if (!rewrite(named, splice).bytes.equals(wanted)) throw new Error("other bytes than iconv's");
    const guessed = await decode("f", bytes, { legacy: true, strict: true });
    if (refuses(() => rewrite(guessed, splice)) || [...added].every(c => c <= "\x7f")) return;
    if (!rewrite(guessed, splice).bytes.equals(wanted)) throw new Error(`taken for ${guessed.codec.name}`);
  });
}

async function someReadAs(encodings: readonly string[], bytes: Buffer, text: string): Promise<boolean> {
  for (const encoding of encodings) if ((await decode("f", bytes, { encoding })).raw === text) return true;
  return false;
}

function refuses(action: () => unknown): boolean {
  try {
    action();
    return false;
  } catch (error) {
    if (Fault.is(error, "unencodable")) return true;
    throw error;
  }
}

/** Unicode with marks: as iconv reads and writes it, or refused. */
async function marks({ tally }: Trial): Promise<void> {
  const text = "one ☃\ntwo\n";
  for (const encoding of ["utf-8", "utf-16le", "utf-16be"])
    await tally.attempt(`mark of ${encoding}`, async () => {
      const bytes = iconv(`\ufeff${text}`, encoding);
      const found = await decode("f", bytes, { legacy: true, strict: true });
      if (found.raw !== text || !found.mark) throw new Error(`read as ${JSON.stringify(found.raw)}`);
      for (const content of [text, `\ufeff${text}`])
        if (!(await encode("f", content, { encoding, mark: true })).equals(bytes))
          throw new Error("not one mark");
    });
  for (const encoding of ["utf-32le", "utf-32be"])
    await tally.attempt(`mark of ${encoding}`, () => {
      if (!isNoText(iconv(`\ufeff${text}`, encoding))) throw new Error("taken for text");
    });
}

function iconv(text: string, encoding: string): Buffer {
  return execFileSync("iconv", ["-f", "utf-8", "-t", names[encoding] ?? encoding], { input: text });
}

/** What iconv calls them. */
const names: Readonly<Record<string, string>> = {
  "windows-1252": "cp1252",
  "windows-1250": "cp1250",
  "windows-1251": "cp1251",
  "windows-1253": "cp1253",
  "windows-1254": "cp1254",
};
