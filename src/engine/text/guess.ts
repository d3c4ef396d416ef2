// Guesses a legacy encoding from the bytes. Answers only if the text is long enough and looks like the language of
// the encoding, and is certain only if no other fits. Known: Shift_JIS, EUC-JP, GB18030, Big5, EUC-KR, windows-1251,
// KOI8-R, windows-1252.
import { implausibility, legacySample } from "./likely.ts";

export interface Guess {
  readonly encoding: string;
  readonly certain: boolean;
}

/** Fewer characters than this of a multi-byte or Cyrillic text prove nothing. */
const enough = 12;

export function guessLegacy(bytes: Buffer): Guess | undefined {
  const sample = legacySample(bytes);
  const wide = japanese(sample) ?? chineseOrKorean(sample) ?? traditionalChinese(sample);
  if (wide !== undefined)
    return { encoding: wide, certain: isLongRun(sample) && fits(sample, wide) && isOfLanguage(sample, wide) };
  const guess = singleByte(sample);
  return guess && { ...guess, certain: guess.certain && fits(sample, guess.encoding) };
}

const fits = (sample: Buffer, encoding: string) => implausibility(sample, encoding) === 0;

// The most frequent characters of a language are a fifth of any text in it. The double-byte encodings share most of their
// codes, so others say little: Japanese without kana, as in names and tables, is valid Chinese.
const frequent: Readonly<Record<string, string>> = {
  gb18030: "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之",
  "euc-kr": "이는다을의에가고하지로도니스를은한어사기인그나서시라일정",
  big5: "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之",
};

function isOfLanguage(sample: Buffer, encoding: string): boolean {
  const wanted = frequent[encoding];
  if (wanted === undefined) return true;
  const characters = [...new TextDecoder(encoding).decode(sample)].filter(character => character > "\u2e7f");
  const found = characters.filter(character => wanted.includes(character));
  return found.length >= 4 && new Set(found).size >= 3 && found.length > characters.length / 10;
}

/** Words of single-byte alphabets are short and have odd lengths as often as even ones; runs of pairs are even. */
function isLongRun(bytes: Buffer): boolean {
  let [evidence, run] = [0, 0];
  for (const byte of [...bytes, 0]) {
    if (byte >= 0x80) run += 1;
    else if (run > 0) {
      evidence += run > 16 ? run / 4 : 1;
      run = 0;
    }
  }
  return evidence >= 8;
}

/** The two-byte characters of a text as [lead, trail]; undefined if the bytes do not fit the scheme. */
function pairs(
  bytes: Buffer,
  isLead: (byte: number) => boolean,
  isTrail: (byte: number) => boolean,
  isSingle: (byte: number) => boolean = () => false,
): [number, number][] | undefined {
  const found: [number, number][] = [];
  for (let i = 0; i < bytes.length; i++) {
    const lead = bytes[i] ?? 0;
    if (lead < 0x80 || isSingle(lead)) continue;
    const trail = bytes[i + 1];
    if (trail === undefined) break;
    if (!isLead(lead) || !isTrail(trail)) return undefined;
    found.push([lead, trail]);
    i += 1;
  }
  return found.length < enough ? undefined : found;
}

const share = <T>(list: readonly T[], test: (item: T) => boolean) => list.filter(test).length / list.length;
const between = (low: number, high: number) => (byte: number) => byte >= low && byte <= high;

function japanese(bytes: Buffer): string | undefined {
  const eucPairs = pairs(bytes, b => (b >= 0xa1 && b <= 0xf4) || b === 0x8e, between(0xa1, 0xfe));
  if (eucPairs !== undefined && share(eucPairs, ([lead]) => lead === 0xa4 || lead === 0xa5) > 0.25)
    return "euc-jp";
  const sjisPairs = pairs(
    bytes,
    b => (b >= 0x81 && b <= 0x9f) || (b >= 0xe0 && b <= 0xfc),
    b => b >= 0x40 && b <= 0xfc && b !== 0x7f,
    between(0xa1, 0xdf),
  );
  if (sjisPairs === undefined) return undefined;
  const kana = share(
    sjisPairs,
    ([lead, trail]) => (lead === 0x82 && trail >= 0x9f) || (lead === 0x83 && trail <= 0x96),
  );
  const common = share(sjisPairs, ([lead]) => lead <= 0x9f);
  return kana > 0.25 && common > 0.85 ? "shift_jis" : undefined;
}

function chineseOrKorean(bytes: Buffer): string | undefined {
  const found = pairs(bytes, between(0x81, 0xfe), b => b >= 0x40 && b <= 0xfe && b !== 0x7f);
  const words = found?.filter(([lead]) => lead < 0xa1 || lead > 0xa9) ?? [];
  if (words.length < enough) return undefined;
  const plain = ([lead, trail]: [number, number]) => lead >= 0xa1 && trail >= 0xa1;
  // Hangul syllables fill rows B0 to C8; simplified Chinese is spread over B0 to D7, by pronunciation.
  if (share(words, pair => plain(pair) && pair[0] >= 0xb0 && pair[0] <= 0xc8) > 0.93) return "euc-kr";
  const common = share(words, pair => plain(pair) && pair[0] >= 0xb0 && pair[0] <= 0xd7);
  return common > 0.85 ? "gb18030" : undefined;
}

function traditionalChinese(bytes: Buffer): string | undefined {
  const found = pairs(bytes, between(0xa1, 0xf9), b => (b >= 0x40 && b <= 0x7e) || (b >= 0xa1 && b <= 0xfe));
  const words = found?.filter(([lead]) => lead >= 0xa4) ?? [];
  if (words.length < enough) return undefined;
  const low = share(words, ([, trail]) => trail <= 0x7e);
  return share(words, ([lead]) => lead <= 0xc6) > 0.85 && low > 0.15 ? "big5" : undefined;
}

// The six most frequent letters of Russian (о е а и н т) make up nearly half of any text in it.
const frequent1251 = new Set([0xee, 0xe5, 0xe0, 0xe8, 0xed, 0xf2]);
const frequentKoi8 = new Set([0xcf, 0xc5, 0xc1, 0xc9, 0xce, 0xd4]);
// Letters and signs that Western European languages use; Central European ones differ in enough of them.
const western = new Set(Buffer.from("éèàüöäßçñóíáêôîâúåøæãõëïûùÉÄÖÜÇÀÅØÆ«»°§©®£¡¿·ªº\xa0", "latin1"));
for (const punctuation of [0x80, 0x85, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x99, 0x9c])
  western.add(punctuation);

function singleByte(bytes: Buffer): Guess | undefined {
  const high: number[] = [];
  let runs = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if (byte < 0x80 || isSignApart(bytes, i)) continue;
    high.push(byte);
    if (i === 0 || (bytes[i - 1] ?? 0) < 0x80) runs += 1;
  }
  const letters = high.filter(byte => byte >= 0xc0);
  if (high.length / runs > 2.5 && letters.length >= enough && letters.length > high.length * 0.9) {
    const upperHalf = share(letters, byte => byte >= 0xe0);
    const certain = letters.length >= 40;
    if (upperHalf > 0.6 && share(letters, byte => frequent1251.has(byte)) > 0.35)
      return { encoding: "windows-1251", certain };
    if (upperHalf < 0.4 && share(letters, byte => frequentKoi8.has(byte)) > 0.35)
      return { encoding: "koi8-r", certain };
    return undefined;
  }
  const isLatin =
    high.length / runs < 1.3 || (high.length / runs <= 2 && asciiLettersBeside(bytes) > high.length);
  if (high.length < 3 || !isLatin || share(high, byte => western.has(byte)) <= 0.9) return undefined;
  return { encoding: "windows-1252", certain: isClearly1252(high) };
}

/**
 * Whether a byte that is a sign in windows-1252, such as ¼ or ±, stands apart from letters. It says nothing then: the
 * languages that have a letter in its place use that inside words.
 */
function isSignApart(bytes: Buffer, at: number): boolean {
  const byte = bytes[at] ?? 0;
  const isSign = (byte > 0xa0 && byte < 0xc0) || byte === 0xd7 || byte === 0xf7;
  return isSign && !western.has(byte) && !isLetter(bytes[at - 1]) && !isLetter(bytes[at + 1]);
}

/** Whether a byte may be a letter in some alphabet: one of ASCII, or any beyond it. */
function isLetter(byte = 0): boolean {
  return byte >= 0x80 || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);
}

/** The letters of ASCII in words with bytes beyond it: most letters of a Latin text, and none of another script. */
function asciiLettersBeside(bytes: Buffer): number {
  const words = bytes.toString("latin1").match(/[A-Za-z]*[\x80-\xff][A-Za-z\x80-\xff]*/g) ?? [];
  return words.join("").replace(/[\x80-\xff]/g, "").length;
}

// Letters of windows-1252 that are other letters in windows-1250; õ and û are left out, which Hungarian uses for its own.
const onlyWestern = new Set(Buffer.from("àãåæèêìðñòøù", "latin1"));

/**
 * Signs in the place of the control characters exclude ISO-8859; letters that Central Europe, Turkey and the Baltic
 * states read otherwise, and none that they need, exclude the code pages made for them.
 */
function isClearly1252(high: readonly number[]): boolean {
  const signs = high.filter(byte => byte >= 0x80 && byte <= 0x9f);
  const letters = high.filter(byte => onlyWestern.has(byte));
  return (
    high.length >= 24 &&
    signs.length > 0 &&
    letters.length >= 4 &&
    share(high, byte => western.has(byte)) > 0.97
  );
}
