// Where a shell finds a program.
import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/** The directory on a PATH that holds the program; undefined if none does. */
export function directoryOnPath(program: string, path: string): string | undefined {
  return path
    .split(delimiter)
    .find(directory => isAbsolute(directory) && isExecutable(join(directory, program)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
