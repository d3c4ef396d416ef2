// How programs write names that are not UTF-8: each such byte as `\xNN`. The names of the programs hold no backslash
// of their own, so this is all there is to it; names.ts tries the others.

export function spelling(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  if (Buffer.from(text, "utf8").equals(bytes)) return text;
  return [...bytes]
    .map(byte => (byte < 0x80 ? String.fromCharCode(byte) : `\\x${byte.toString(16)}`))
    .join("");
}

export function bytesOf(path: string): Buffer {
  const parts = path.split(/\\x([89a-f][0-9a-f])/);
  return Buffer.concat(
    parts.map((part, i) => (i % 2 === 0 ? Buffer.from(part, "utf8") : Buffer.from(part, "hex"))),
  );
}
