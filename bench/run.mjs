// `node bench/run.mjs [name] [arguments]` (`--growth` for `growth`) bundles bench/<name>.ts as the program itself is bundled, and runs it; the
// program is built first, so that what is measured is what the sources say; for a profile, with names that say something.
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { build as buildProgram } from "../tools/build.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const [first = ""] = process.argv.slice(2);
const named = /^\w/.test(first);
const name = named ? first : first === "--growth" ? "growth" : "main";
const rest = process.argv.slice(name === "main" ? 2 : 3);
const outfile = join(root, "node_modules/.bench", `${name}.mjs`);
mkdirSync(dirname(outfile), { recursive: true });
if (name !== "profile" && !rest.some(option => option.startsWith("--dist")))
  await buildProgram({ readable: rest.includes("--profile") });
await build({
  absWorkingDir: root,
  entryPoints: [`bench/${name}.ts`],
  outfile,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  external: ["@vscode/ripgrep", "playwright-core"],
  banner: { js: "const require=process.getBuiltinModule;" },
  logLevel: "warning",
});
// Signals reach the child by themselves from a terminal, and through us from elsewhere.
const child = spawn(process.execPath, ["--expose-gc", outfile, ...rest], { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("close", code => {
  process.exitCode = code ?? 1;
});
