// `npm run cluster`: builds the program, and shows three replicas of it (proof/cluster/show-program.ts).
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { build as buildProgram } from "./build.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const outfile = join(root, `node_modules/.proof/cluster-${process.pid}.mjs`);
await buildProgram();
await build({
  absWorkingDir: root,
  entryPoints: ["proof/cluster/show-program.ts"],
  outfile,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  packages: "external",
  logLevel: "warning",
});
const child = spawn(process.execPath, [outfile, ...process.argv.slice(2)], { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("close", code => {
  rmSync(outfile, { force: true });
  process.exitCode = code ?? 1;
});
