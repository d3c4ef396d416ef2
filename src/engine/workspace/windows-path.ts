// Windows spells one path in many ways: either slash, drive letters in either case, `\\?\` in front of long paths. The
// program works with one form of them, `C:/Users/me` or `//server/share/dir`, so that `/` separates names everywhere.
// Names that Windows would open as something else than a file of that name are refused.

import { constants } from "node:fs";

export const onWindows = process.platform === "win32";

/** How a file is opened to be flushed: Windows flushes only what may be written. */
export const forFlushing = onWindows ? constants.O_RDWR : constants.O_RDONLY;

/** The program's own form of an absolute path of this system. */
export function ownForm(path: string): string {
  return onWindows ? fromWindows(path) : path;
}

/** An absolute path of the program's own form as people on this system write it. */
export function nativeForm(path: string): string {
  return onWindows ? toWindows(path) : path;
}

/** The program's own form of an absolute path. */
export function fromWindows(path: string): string {
  const slashed = path.replaceAll("\\", "/");
  const plain = slashed.replace(/^\/\/\?\/UNC\//i, "//").replace(/^\/\/\?\/(?=[A-Za-z]:\/)/, "");
  const lettered = plain.replace(/^[a-z]:/, drive => drive.toUpperCase());
  return /[^/:]\/$/.test(lettered) ? lettered.slice(0, -1) : lettered;
}

/** The path as people on Windows write it. */
export function toWindows(path: string): string {
  return path.replaceAll("/", "\\");
}

/** The path in a `file:` URI: `/C:/dir` stands for `C:/dir`, and a host for a server. */
export function windowsPathOfUri(host: string, pathname: string): string | undefined {
  if (host !== "" && host !== "localhost") return `//${host}${pathname}`;
  const drive = /^\/([A-Za-z]:(\/.*)?)$/s.exec(pathname)?.[1];
  return drive?.length === 2 ? `${drive}/` : drive;
}

/** Whether a path is on a network share, which is served only if it was granted. */
export function isUnc(path: string): boolean {
  return onWindows && path.startsWith("//");
}

/** The same for two spellings that Windows takes for one. Lengths stay. */
export function caseless(path: string): string {
  return onWindows ? path.replace(/[A-Z]/g, letter => letter.toLowerCase()) : path;
}

/**
 * Whether a name in a path means something other than a file of that name: a device, a stream, a short name, or
 * characters that Windows strips or forbids. `C:name` is relative to an unknown directory.
 */
export function isReservedOnWindows(path: string): boolean {
  const long = path.replace(/^\\\\\?\\(UNC\\(?=[^\\])|(?=[A-Za-z]:\\))/i, "");
  if (/^[\\/]{2}[?.]([\\/]|$)/.test(long) || /^[A-Za-z]:(?![\\/])/.test(long)) return true;
  return long
    .replace(/^[A-Za-z]:/, "")
    .split(/[\\/]/)
    .some(isReservedName);
}

const forbidden = /[:<>"|?*\u0000-\u001f]/;
const device = /^(con|prn|aux|nul|conin\$|conout\$|clock\$|(com|lpt)[0-9¹²³]) *(\.|$)/i;
const shortName = /^[^.]{0,6}~\d{1,6}(\.[^.]{0,3})?$/;

function isReservedName(name: string): boolean {
  if (name === "." || name === "..") return false;
  return /[. ]$/.test(name) || forbidden.test(name) || device.test(name) || shortName.test(name);
}
