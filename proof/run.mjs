// `npm run proof -- SUITE [options]` and `npm run soak`: builds the program, bundles the suites, and runs the one that
// is named. See options.ts; suites.ts lists the names.
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { build as buildProgram } from "../tools/build.mjs";
import { useTemporaryDirectoryOnDisk } from "../tools/temporary-directory.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
// One file directly below node_modules/.proof: what the suites share with the tests finds the repository from there.
const outfile = join(root, `node_modules/.proof/main-${process.pid}.mjs`);
/** The engine asks by these names where the build has put its threads. */
const builtThreads = {
  name: "built threads",
  setup({ onResolve }) {
    onResolve({ filter: /^#(pdf|review|syntax|text)$/ }, ({ path }) => ({
      path: pathToFileURL(join(root, `dist/${path.slice(1)}.cjs`)).href,
      external: true,
    }));
  },
};
useTemporaryDirectoryOnDisk();
await buildProgram();
await build({
  absWorkingDir: root,
  entryPoints: ["proof/main.ts"],
  outfile,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  packages: "external",
  plugins: [builtThreads],
  logLevel: "warning",
});
const child = spawn(process.execPath, ["--expose-gc", outfile, ...process.argv.slice(2)], {
  stdio: "inherit",
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("close", code => {
  rmSync(outfile, { force: true });
  process.exitCode = code ?? 1;
});
