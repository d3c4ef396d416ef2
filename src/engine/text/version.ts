// The version of a file: a short hash of its bytes. Same bytes, same version, whoever wrote them.
import { hash } from "node:crypto";

/** Nobody changes bytes once they are made, so those that many ask about are hashed once. */
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
  return `v:${contentHash(bytes).slice(0, 12)}`;
}
