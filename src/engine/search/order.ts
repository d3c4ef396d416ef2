// The one order of every listing and search: paths by their UTF-8 bytes, as in `sort` with the C locale. Pages of the
// same tree always agree.

/** Compares as UTF-8 bytes would. Code units do the same, except that surrogates sort before U+E000–U+FFFF. */
export function compareBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return x >= 0xd800 && y >= 0xd800 ? lifted(x) - lifted(y) : x - y;
  }
  return a.length - b.length;
}

/** Sorts surrogates, which encode U+10000 and up, above the rest. */
function lifted(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}

export function sortByName<T extends { readonly name: string }>(items: T[]): T[] {
  const plain = items.every(({ name }) => !beyondUnits.test(name));
  return items.sort(plain ? byUnits : (a, b) => compareBytes(a.name, b.name));
}

/** Names for which the order of code units may not be that of bytes. */
const beyondUnits = /[\ud800-\uffff]/;

function byUnits(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
