// Quotes an argument for a POSIX shell.

export function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
