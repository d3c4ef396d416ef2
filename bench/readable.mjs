// A build whose names can be read, for profiles: like the published one, but not minified.
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

/** Builds into the directory. */
export async function buildReadable(root, directory) {
  mkdirSync(directory, { recursive: true });
  await build({
    absWorkingDir: root,
    entryPoints: { polyfs: "src/cli/polyfs.ts" },
    outdir: directory,
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    external: ["@vscode/ripgrep"],
    banner: { js: "const require=process.getBuiltinModule;" },
    logLevel: "warning",
    plugins: [
      {
        name: "shared tables",
        setup: ({ onResolve }) =>
          onResolve({ filter: /^iconv-lite$/ }, () => ({ path: "#encodings", external: true })),
      },
    ],
  });
  cpSync(join(root, "dist/encodings.js"), join(directory, "encodings.js"));
}
