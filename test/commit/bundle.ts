// Bundles a script of the tests so that a plain process can run it, the way users run the program.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

export async function bundle(script: string): Promise<{ path: string; [Symbol.dispose](): void }> {
  const directory = mkdtempSync(join(tmpdir(), "polyfs-script-"));
  const path = join(directory, "script.mjs");
  await build({
    entryPoints: [join(import.meta.dirname, script)],
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    outfile: path,
    logLevel: "error",
  });
  return { path, [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }) };
}
