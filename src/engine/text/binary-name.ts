// Files that are binary by name alone: images, sound, archives, programs. Otherwise the bytes decide.
import { mimeType } from "./mime.ts";

const kinds = /^(image|audio|video|font)\//;
const applications =
  /^application\/(wasm|pdf|zip|gzip|x-tar|x-bzip2|x-xz|zstd|x-7z-compressed|java-archive|msword|octet-stream|vnd\..*)$/;

/** A `.dat` may be anything. */
export function isBinaryName(name: string): boolean {
  const type = mimeType(name);
  if (type === undefined || type.startsWith("text/")) return false;
  if (type === "image/svg+xml" || /\.dat$/i.test(name)) return false;
  return kinds.test(type) || applications.test(type);
}
