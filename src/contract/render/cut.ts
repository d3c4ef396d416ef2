// Cutting texts to a length without cutting a character in two.

/** The start of a text that fits into this many bytes of UTF-8. */
export function firstBytes(body: string, most: number): string {
  const bytes = Buffer.from(body.slice(0, most));
  let end = Math.min(most, bytes.length);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}

/** The start of a line, and the number of characters left out. */
export function firstCharacters(
  line: string,
  most: number,
): { readonly text: string; readonly left: number } {
  if (line.length <= most) return { text: line.isWellFormed() ? line : line.toWellFormed(), left: 0 };
  const end = /[\ud800-\udbff]/.test(line[most - 1] ?? "") ? most - 1 : most;
  return { text: line.slice(0, end).toWellFormed(), left: line.length - end };
}
