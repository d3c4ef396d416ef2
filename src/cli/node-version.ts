// The oldest Node that the program runs on. An older one lacks functions that the first lines of the program call, and
// would print those lines and a stack trace.

const oldest = [20, 19] as const;

/** What to tell the user of this Node, if it is too old. */
export function tooOld(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) return undefined;
  return `Install Node ${oldest.join(".")} or later.`;
}
