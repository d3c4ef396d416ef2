// How much two texts have in common at their start and at their end. Slices are compared block by block, which takes a
// fraction of the time of a loop over characters.

const block = 16_384;

export function commonPrefix(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let at = 0;
  while (at + block <= most && a.slice(at, at + block) === b.slice(at, at + block)) at += block;
  while (at < most && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  return at;
}

/** Of what follows the first `from` characters. */
export function commonSuffix(a: string, b: string, from: number): number {
  const most = Math.min(a.length, b.length) - from;
  let tail = 0;
  while (tail + block <= most && endSlice(a, tail) === endSlice(b, tail)) tail += block;
  while (tail < most && a.charCodeAt(a.length - 1 - tail) === b.charCodeAt(b.length - 1 - tail)) tail += 1;
  return tail;
}

function endSlice(text: string, tail: number): string {
  return text.slice(text.length - tail - block, text.length - tail);
}
