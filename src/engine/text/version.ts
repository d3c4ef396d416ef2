// The version of a file: a short hash of its bytes. Equal bytes have equal versions.
import { hash } from "node:crypto";

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

export function version(bytes: Uint8Array): string {
  return versionOf(contentHash(bytes));
}

export function versionOf(hash: string): string {
  return `v:${hash.slice(0, 12)}`;
}
