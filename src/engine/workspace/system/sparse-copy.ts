// Copies a file that has holes without filling them: blocks of zeros are skipped, and the length is set at the end.
import { constants, type Stats } from "node:fs";
import { open } from "node:fs/promises";
import { byDescriptor } from "./descriptors.ts";
import type { Address } from "./held.ts";

const blockBytes = 64 * 1024;
const zeros = Buffer.alloc(blockBytes);

/** Whether a file takes up less than its length. */
export function isSparse({ size, blocks }: Pick<Stats, "size" | "blocks">): boolean {
  // Elsewhere an address is not always a path that Node can open.
  return byDescriptor && size > blockBytes && blocks * 512 < size - blockBytes;
}

/** `to` does not exist yet. It gets this mode. */
export async function copySparse(from: Address, to: Address, mode: number): Promise<void> {
  await using source = await open(from, constants.O_RDONLY);
  await using target = await open(to, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode);
  const block = Buffer.alloc(blockBytes);
  let at = 0;
  for (;;) {
    const { bytesRead } = await source.read(block, 0, blockBytes, at);
    if (bytesRead === 0) break;
    const part = block.subarray(0, bytesRead);
    if (!part.equals(zeros.subarray(0, bytesRead))) await target.write(part, 0, bytesRead, at);
    at += bytesRead;
  }
  await target.truncate(at);
  await target.chmod(mode);
}
