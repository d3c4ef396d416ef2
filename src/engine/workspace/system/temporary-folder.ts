// A directory for the life of one command, for its owner alone.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TemporaryFolder extends Disposable {
  readonly path: string;
}

export function temporaryFolder(): TemporaryFolder {
  const path = realpathSync.native(mkdtempSync(join(tmpdir(), "polyfs-")));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
