// Trees on a file system that ignores case and Unicode form, as those of macOS and Windows do.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mountFolding } from "../../tools/platforms/folding/mount.mjs";

export interface FoldingDisk extends AsyncDisposable {
  readonly path: string;
}

/** Undefined if nothing can be mounted. `decomposes`: names are stored in Unicode form D. */
export async function foldingDisk(decomposes: boolean): Promise<FoldingDisk | undefined> {
  const path = mkdtempSync(join(tmpdir(), "polyfs-folding-"));
  const end = await mountFolding(path, { decomposes });
  if (end === undefined) rmSync(path, { recursive: true });
  return (
    end && {
      path,
      async [Symbol.asyncDispose]() {
        await end();
        rmSync(path, { recursive: true });
      },
    }
  );
}
