// A directory for the life of one command, for its owner alone.
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { purgeLater } from "../commit/purge.ts";
import { Handle } from "../handle.ts";

export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string;
}

export function temporaryFolder(): TemporaryFolder {
  const path = realpathSync.native(mkdtempSync(join(tmpdir(), "polyfs-")));
  return {
    path,
    async [Symbol.asyncDispose]() {
      using above = Handle.open(dirname(path), { directory: true });
      await purgeLater(above, basename(path));
    },
  };
}
