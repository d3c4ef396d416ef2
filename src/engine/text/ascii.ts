// Texts that are plain ASCII, as most names are: much of Unicode does not concern them.

export function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text);
}
