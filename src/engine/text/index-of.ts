// Finds a text in another one in linear time, whatever both are. The engine's own `indexOf` is the fastest in
// general, but takes more than a minute for "aa…b…aa" in a few megabytes of "a", and blocks the event loop.

/** Texts up to this length are left to the engine: so short, they cannot make it slow. */
const short = 128;
/** How many characters may be compared without a match for each position that the search advances. */
const patience = 8;

export function indexOfText(body: string, text: string, from = 0): number {
  if (text.length <= short) return body.indexOf(text, from);
  const head = text.slice(0, short);
  let compared = 0;
  for (let at = body.indexOf(head, from); at >= 0; at = body.indexOf(head, at + 1)) {
    if (body.startsWith(text, at)) return at;
    compared += text.length;
    if (compared > patience * (at - from + text.length)) return indexByBorders(body, text, at + 1);
  }
  return -1;
}

/** Knuth, Morris and Pratt: reads each character of the body once. */
function indexByBorders(body: string, text: string, from: number): number {
  const borders = bordersOf(text);
  let length = 0;
  for (let at = from; at < body.length; at++) {
    const unit = body.charCodeAt(at);
    while (length > 0 && text.charCodeAt(length) !== unit) length = borders[length - 1] ?? 0;
    if (text.charCodeAt(length) === unit) length += 1;
    if (length === text.length) return at - length + 1;
  }
  return -1;
}

/** For each beginning of a text, how long the longest shorter beginning is that it ends with. */
function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length);
  let length = 0;
  for (let at = 1; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    while (length > 0 && text.charCodeAt(length) !== unit) length = borders[length - 1] ?? 0;
    if (text.charCodeAt(length) === unit) length += 1;
    borders[at] = length;
  }
  return borders;
}
