// The version of a file: a short hash of its bytes. Equal bytes have equal versions.
import { createHash, hash } from "node:crypto";
import { nextTurn } from "../turn.ts";

/** Buffers are immutable by convention, so repeated requests are hashed once. */
const known = new WeakMap<Uint8Array, string>();
const worthKnowing = 64 * 1024;

/** SHA-256, in hexadecimal. */
export function contentHash(bytes: Uint8Array): string {
  if (bytes.length < worthKnowing) return hash("sha256", bytes);
  const found = known.get(bytes) ?? hash("sha256", bytes);
  known.set(bytes, found);
  return found;
}

const pieceBytes = 4 * 1024 * 1024;

/** `contentHash` with a pause after each piece of large bytes. From then on their hash is known. */
export function* hashing(bytes: Uint8Array): Generator<void, string, undefined> {
  if (bytes.length <= pieceBytes || known.has(bytes)) return contentHash(bytes);
  const sum = createHash("sha256");
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    sum.update(bytes.subarray(at, at + pieceBytes));
    yield;
  }
  const found = sum.digest("hex");
  known.set(bytes, found);
  return found;
}

/** The same; the event loop turns in the pauses. */
export async function hashInTurns(bytes: Uint8Array): Promise<string> {
  for (const steps = hashing(bytes); ; await nextTurn()) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

export function version(bytes: Uint8Array): string {
  return versionOf(contentHash(bytes));
}

export function versionOf(hash: string): string {
  return `v:${hash.slice(0, 12)}`;
}
