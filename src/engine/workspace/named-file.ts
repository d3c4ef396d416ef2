// A file that the person who starts the program names (a configuration): the one read that goes by a plain path,
// because that person needs no permission from themselves. Nothing that a caller says may come here.
import { readFileSync } from "node:fs";
import { system } from "./errno.ts";

export function readNamedFile(path: string): string {
  return system(path, () => readFileSync(path, "utf8"));
}
