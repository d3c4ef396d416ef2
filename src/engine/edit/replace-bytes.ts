// Replaces a text everywhere in bytes. UTF-8 can be searched as it is: no character begins inside of another one. Two
// million places then cost two passes over the bytes, and no memory but that of the result.

export interface ReplacedBytes {
  readonly bytes: Uint8Array;
  readonly count: number;
}

/** Undefined if there is no match, or the result would exceed this many bytes. */
export function replaceBytes(
  bytes: Uint8Array,
  old: string,
  added: string,
  most: number,
): ReplacedBytes | undefined {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [from, to] = [Buffer.from(old), Buffer.from(added)];
  let count = 0;
  for (let at = source.indexOf(from); at >= 0; at = source.indexOf(from, at + from.length)) count += 1;
  const size = source.length + count * (to.length - from.length);
  if (count === 0 || size > most) return undefined;
  const made = Buffer.allocUnsafeSlow(size);
  let [done, end] = [0, 0];
  for (let at = source.indexOf(from); at >= 0; at = source.indexOf(from, done)) {
    end += source.copy(made, end, done, at);
    end += to.copy(made, end);
    done = at + from.length;
  }
  source.copy(made, end, done);
  return { bytes: made, count };
}
