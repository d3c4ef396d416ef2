// A directory for the life of one command, for its owner alone. It may hold a state directory, which the tools' own way
// of removing refuses to touch.
import { chmodSync, mkdtempSync, readdirSync, realpathSync, rmdirSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";

export interface TemporaryFolder extends Disposable {
  readonly path: string;
}

export function temporaryFolder(): TemporaryFolder {
  const path = realpathSync.native(mkdtempSync(join(tmpdir(), "polyfs-")));
  return { path, [Symbol.dispose]: () => removeAll(Buffer.from(path)) };
}

/** Copies of the user's files are below it: their names may be any bytes, and their directories read-only. */
function removeAll(directory: Buffer): void {
  chmodSync(directory, 0o700);
  for (const entry of readdirSync(directory, { withFileTypes: true, encoding: "buffer" })) {
    const path = Buffer.concat([directory, Buffer.from(sep), entry.name]);
    if (entry.isDirectory()) removeAll(path);
    else unlinkSync(path);
  }
  rmdirSync(directory);
}
