// Two texts as numbers: lines that are equal have the same number, in both. Comparing texts of millions of lines then
// works on typed arrays, and takes some 30 bytes a line instead of a string for each.

/** A text by its lines, which keep their endings. */
export interface NumberedLines {
  readonly text: string;
  /** Where each line begins, and where the last one ends. */
  readonly starts: Uint32Array;
  readonly ids: Uint32Array;
}

export interface NumberedTexts {
  readonly a: NumberedLines;
  readonly b: NumberedLines;
  /** How many different lines there are. */
  readonly kinds: number;
}

/** The line at an index; "" beyond the last one. */
export function lineAt({ text, starts }: NumberedLines, index: number): string {
  return text.slice(starts[index] ?? text.length, starts[index + 1] ?? text.length);
}

export function numberLines(a: string, b: string): NumberedTexts {
  const [inA, inB] = [lineStarts(a), lineStarts(b)];
  const lines = inA.length + inB.length - 2;
  // Open addressing: each slot names the first line of its kind, counted over both texts from 1.
  const slots = new Uint32Array(2 ** Math.ceil(Math.log2(2 * lines + 2)));
  const numbers = new Uint32Array(lines);
  const hashes = new Uint32Array(lines);
  const isInA = (line: number) => line < inA.length - 1;
  const placed = (line: number) =>
    isInA(line) ? { text: a, starts: inA, at: line } : { text: b, starts: inB, at: line - inA.length + 1 };
  let kinds = 0;
  for (let line = 0; line < lines; line++) {
    const { text, starts, at } = placed(line);
    const [start, end] = [starts[at] ?? 0, starts[at + 1] ?? 0];
    const hash = hashOf(text, start, end);
    hashes[line] = hash;
    for (let slot = hash & (slots.length - 1); ; slot = (slot + 1) & (slots.length - 1)) {
      const first = (slots[slot] ?? 0) - 1;
      if (first < 0) {
        slots[slot] = line + 1;
        numbers[line] = kinds++;
        break;
      }
      if (hashes[first] !== hash) continue;
      const other = placed(first);
      const from = other.starts[other.at] ?? 0;
      if ((other.starts[other.at + 1] ?? 0) - from !== end - start) continue;
      if (!areSame(text, start, other.text, from, end - start)) continue;
      numbers[line] = numbers[first] ?? 0;
      break;
    }
  }
  return {
    a: { text: a, starts: inA, ids: numbers.subarray(0, inA.length - 1) },
    b: { text: b, starts: inB, ids: numbers.subarray(inA.length - 1) },
    kinds,
  };
}

/** A text without a final break ends in a line without one. */
function lineStarts(text: string): Uint32Array {
  let lines = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  if (text.length > 0 && !text.endsWith("\n")) lines += 1;
  const starts = new Uint32Array(lines + 1);
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts[line++] = at + 1;
  starts[lines] = text.length;
  return starts;
}

/** Another one in each process, so that no file can be made of lines that all collide. */
const seed = (Math.random() * 2 ** 32) >>> 0;

function hashOf(text: string, start: number, end: number): number {
  let hash = seed;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

function areSame(a: string, inA: number, b: string, inB: number, length: number): boolean {
  for (let i = 0; i < length; i++) if (a.charCodeAt(inA + i) !== b.charCodeAt(inB + i)) return false;
  return true;
}
