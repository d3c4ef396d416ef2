// Candidate legacy encodings of bytes without proof of one: those in which they form words. A wrong one gives itself
// away by a symbol or a letter of another script inside a word, or by a capital after a small letter.

const candidates = [
  "windows-1252",
  "iso-8859-15",
  "windows-1250",
  "iso-8859-2",
  "windows-1251",
  "koi8-r",
  "windows-1253",
  "iso-8859-7",
  "windows-1254",
  "windows-1257",
  "koi8-u",
  "iso-8859-5",
  "ibm866",
  "windows-1255",
  "windows-1256",
  "macintosh",
  "shift_jis",
  "euc-jp",
  "gb18030",
  "big5",
  "euc-kr",
] as const;

const sampleSize = 65_536;
/** As many are named, or more where all of them read the bytes differently. */
const mostAlike = 8;

/** A part of a file that shows its encoding: from the line of the first byte beyond ASCII. */
export function legacySample(bytes: Buffer): Buffer {
  const first = bytes.findIndex(byte => byte >= 0x80);
  const start = first < 0 ? 0 : bytes.lastIndexOf(10, first) + 1;
  if (bytes.length - start <= sampleSize) return bytes.subarray(start);
  // A cut inside a character would make a sound text look broken.
  const sample = bytes.subarray(start, start + sampleSize);
  return sample.subarray(0, sample.lastIndexOf(10) + 1 || undefined);
}

/**
 * The candidate encodings of bytes beyond ASCII, best first; `first` leads if it is one of them. Each way to read the bytes
 * is there, however many there are: text of two words can be read in a dozen. Encodings that read them alike fill the list.
 */
export function likelyEncodings(bytes: Buffer, first?: string): string[] {
  const sample = legacySample(bytes);
  const rated = candidates
    .map(encoding => ({ encoding, bad: implausibility(sample, encoding) }))
    .filter(({ bad }) => bad < 1)
    .sort((a, b) => a.bad - b.bad);
  const best = rated[0]?.bad ?? 0;
  const names: string[] = rated.filter(({ bad }) => bad <= best + 0.05).map(({ encoding }) => encoding);
  const others = names.filter(name => name !== first);
  const ordered = first !== undefined && others.length < names.length ? [first, ...others] : names;
  if (ordered.length <= mostAlike) return ordered;
  const readings = ordered.map(name => decoded(sample, name));
  const isNew = readings.map((reading, i) => readings.indexOf(reading) === i);
  let room = mostAlike - isNew.filter(Boolean).length;
  return ordered.filter((_, i) => isNew[i] || room-- > 0);
}

/** The share of non-ASCII text that makes no sense in an encoding: from 0 to 1, where it is impossible. */
export function implausibility(sample: Buffer, encoding: string): number {
  const text = decoded(sample, encoding);
  if (text === undefined || /[\u0080-\u009f\ufffd\ue000-\uf8ff]/.test(text)) return 1;
  let beyond = 0;
  let bad = 0;
  for (const word of wordsBeyondAscii(text)) {
    beyond += 1;
    if (isOdd(word)) bad += 1;
  }
  return beyond === 0 ? 0 : bad / beyond;
}

/**
 * Letters, with what is beyond ASCII after them. Takes linear time: an expression that wants a character beyond ASCII
 * after the letters of a word goes back over all of them where there is none, from each of them.
 */
function* wordsBeyondAscii(text: string): Generator<string> {
  for (const [run] of text.matchAll(/[A-Za-z\x80-\uffff]+/g)) {
    if (!beyondAscii.test(run)) continue;
    for (const [word] of run.matchAll(
      /[\p{L}\p{M}]+(?:[^\0-\x7f]+[\p{L}\p{M}]*)?|[^\0-\x7f]+[\p{L}\p{M}]*/gu,
    ))
      if (beyondAscii.test(word)) yield word;
  }
}

const beyondAscii = /[^\0-\x7f]/;

const scripts = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Hebrew}/u];

function isOdd(word: string): boolean {
  const symbolInside = /\p{L}[^\p{L}\p{M}\p{Pd}\p{Pi}\p{Pf}\p{Ps}\p{Pe}\p{Po}\p{Z}\u00ad]+\p{L}/u;
  const capitalInside = /\p{Ll}\p{Lu}/u;
  const letterAndSign = /\p{Ll}[\u00a2-\u00a9\u00ac\u00ae-\u00b8\u00bc-\u00be]|[\u2500-\u259f]/u;
  if (symbolInside.test(word) || capitalInside.test(word) || letterAndSign.test(word)) return true;
  // No Latin alphabet writes whole words without one of the letters of ASCII.
  if (/^\p{Script=Latin}{3,}$/u.test(word) && !/[a-z]/i.test(word)) return true;
  return scripts.filter(script => script.test(word)).length > 1;
}

// What windows-1252 has for the bytes 0x80 to 0x9f; a blank where it has nothing but the control character.
const signs1252 = "€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ";

/** Node 20 decodes windows-1252 as ISO-8859-1, without the signs that tell the two apart. */
function decoded1252(sample: Buffer): string {
  return sample.toString("latin1").replace(/[\x80-\x9f]/g, control => {
    const sign = signs1252.charAt(control.charCodeAt(0) - 0x80);
    return sign === " " ? control : sign;
  });
}

function decoded(sample: Buffer, encoding: string): string | undefined {
  if (encoding === "windows-1252") return decoded1252(sample);
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(sample);
  } catch {
    return undefined; // the bytes do not fit, or this runtime lacks the table
  }
}
