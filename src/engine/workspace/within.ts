// Whether one path is inside another, by their spelling alone.

/** Whether `path` is `directory` or is below it. Both are absolute and without `.` or `..`. */
export function isWithin(path: string, directory: string): boolean {
  if (!path.startsWith(directory)) return false;
  return path.length === directory.length || directory.endsWith("/") || path[directory.length] === "/";
}

/** Whether one of two paths is the other or is below it. */
export function isRelated(one: string, other: string): boolean {
  return isWithin(one, other) || isWithin(other, one);
}
