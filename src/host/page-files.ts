// The files of the review page, which the build puts beside the program.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** `name` is a single name. Undefined if there is no such file. */
export async function readPageFile(name: string): Promise<Buffer | undefined> {
  try {
    const { program: directory } = await import("#review");
    return readFileSync(join(directory, name));
  } catch {
    return undefined;
  }
}
