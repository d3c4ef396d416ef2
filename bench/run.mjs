// `node bench/run.mjs <name> [arguments]` builds the program, bundles bench/<name>.ts in the same way, and runs it.
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { build as buildProgram } from "../tools/build.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const [name = "search", ...rest] = process.argv.slice(2);
const outfile = join(root, "node_modules/.bench", `${name}.mjs`);
await buildProgram();
mkdirSync(dirname(outfile), { recursive: true });
await build({
  absWorkingDir: root,
  entryPoints: [`bench/${name}.ts`],
  outfile,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  external: ["@vscode/ripgrep"],
  banner: { js: "const require=process.getBuiltinModule;" },
  logLevel: "warning",
});
const { status } = spawnSync(process.execPath, ["--expose-gc", outfile, ...rest], {
  cwd: root,
  stdio: "inherit",
});
process.exitCode = status ?? 1;
