// Counts line ends (LF) in bytes, 16 bytes at a time for large inputs.
import { utf8 } from "./codec.ts";
import { countLines, type LineCounting } from "./lines.ts";
import { memoryFrom, memoryTo, program } from "./simd/program.ts";
import type { Text } from "./text.ts";

const worthVectors = 128 * 1024;

export function countBreaks(bytes: Buffer): number {
  const quick = bytes.length < worthVectors ? undefined : program();
  let count = 0;
  if (quick === undefined) {
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) count += 1;
    return count;
  }
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.copy(quick.memory, memoryFrom, at, at + memoryTo - memoryFrom);
    count += quick.countBreaks(memoryFrom, memoryFrom + length);
    at += length;
  }
  return count;
}

/** The number of lines of a text: counted in its bytes if possible, so that a large one need not be decoded. */
export function lineCount(text: Text, counting: LineCounting): number {
  const { codec, bytes } = text;
  // A file without LF may have lines that end with CR.
  if (codec !== utf8 || !bytes.includes(10)) return countLines(text.body, counting);
  return countBreaks(bytes) + (counting === "split" || bytes.at(-1) !== 10 ? 1 : 0);
}
