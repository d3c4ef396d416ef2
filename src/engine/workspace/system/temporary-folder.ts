// A directory for the life of one command, for its owner alone. It may hold a state directory, which the tools' own way
// of removing refuses to touch.
import { mkdtempSync, readdirSync, realpathSync, rmdirSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TemporaryFolder extends Disposable {
  readonly path: string;
}

export function temporaryFolder(): TemporaryFolder {
  const path = realpathSync.native(mkdtempSync(join(tmpdir(), "polyfs-")));
  return { path, [Symbol.dispose]: () => removeAll(path) };
}

function removeAll(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) removeAll(path);
    else unlinkSync(path);
  }
  rmdirSync(directory);
}
