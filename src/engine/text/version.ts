// The version of a file: a short hash of its bytes. Same bytes, same version, whoever wrote them.
import { createHash } from "node:crypto";

export function version(bytes: Uint8Array): string {
  return `v:${createHash("sha256").update(bytes).digest("hex").slice(0, 12)}`;
}
