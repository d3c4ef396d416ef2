// Bundles the program and the library into dist/, and with --types emits the library's declarations. Nothing is
// done when dist/ already holds what the sources say, so every start and every test run can call it.
import { createHash } from "node:crypto";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { notices, noticesName } from "./notices.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");

/** Brings dist/ up to date; resolves to whether there was anything to do. */
export async function build({ types = false } = {}) {
  const now = fingerprint();
  const bundled = !isCurrent("bundle", now);
  if (bundled) {
    await bundle();
    stamp("bundle", now);
  }
  const emitted = types && !isCurrent("types", now);
  if (emitted) {
    await declarations();
    stamp("types", now);
  }
  return bundled || emitted;
}

/** Whether the bundle is up to date. Needs no dependency, so it can be asked before anything is installed. */
export function isBuilt() {
  return isCurrent("bundle", fingerprint());
}

/** What dist/ is made from, by name, size and time of each file: a removed source counts as a change. */
function fingerprint() {
  const hash = createHash("sha256");
  const sources = readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .sort();
  for (const name of [
    "tools/build.mjs",
    "tools/notices.mjs",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "tsconfig.types.json",
  ]) {
    sources.push(join(root, name));
  }
  for (const file of sources) {
    const { mtimeMs, size } = statSync(file);
    hash.update(`${relative(root, file)} ${size} ${mtimeMs}\n`);
  }
  return hash.digest("hex");
}

function isCurrent(part, now) {
  try {
    return readFileSync(join(dist, `.${part}`), "utf8") === now;
  } catch {
    return false;
  }
}

function stamp(part, now) {
  writeFileSync(join(dist, `.${part}`), now);
}

/** The tables of old encodings are half of everything, so the program and the library share them (`imports` in package.json). */
const tables = "iconv-lite";
const entries = { "encodings.js": tables, "polyfs.js": "src/cli/polyfs.ts", "index.js": "src/index.ts" };

/** The program and the library apart: together they would share more and smaller chunks, each a file to load. */
async function bundle() {
  const { build: esbuild } = await import("esbuild");
  const outputs = await Promise.all(
    Object.entries(entries).map(([name, source]) =>
      esbuild({
        absWorkingDir: root,
        entryPoints: { [name.replace(".js", "")]: source },
        outdir: dist,
        chunkNames: "chunks/[name]-[hash]",
        bundle: true,
        splitting: true,
        format: "esm",
        platform: "node",
        target: "node20.19",
        minify: true,
        legalComments: "none",
        external: ["@vscode/ripgrep"],
        plugins: source === tables ? [] : [sharedTables],
        // CommonJS packages inside an ES module bundle ask for Node's own modules by `require`.
        banner: { js: "const require=process.getBuiltinModule;" },
        logLevel: "warning",
        metafile: true,
        write: false,
      }),
    ),
  );
  const files = outputs.flatMap(({ outputFiles }) =>
    outputFiles.map(({ path, contents }) => ({ name: relative(dist, path), contents })),
  );
  const metafiles = outputs.map(({ metafile }) => metafile);
  files.push({ name: noticesName, contents: notices(root, metafiles) });
  // Chunks first and entries last, each put in place by a rename: whoever starts the program meanwhile gets the
  // old one or the new one, whole.
  mkdirSync(join(dist, "chunks"), { recursive: true });
  for (const file of files.toSorted((a, b) => Number(a.name in entries) - Number(b.name in entries)))
    put(file);
  const kept = new Set(files.map(({ name }) => name));
  for (const name of readdirSync(join(dist, "chunks"))) {
    if (!kept.has(join("chunks", name))) rmSync(join(dist, "chunks", name), { force: true });
  }
}

const sharedTables = {
  name: "shared tables",
  setup(build) {
    build.onResolve({ filter: new RegExp(`^${tables}$`) }, () => ({ path: "#encodings", external: true }));
  },
};

function put({ name, contents }) {
  const target = join(dist, name);
  const temporary = join(dist, `.${basename(name)}.${process.pid}`);
  writeFileSync(temporary, contents);
  if (name === "polyfs.js") chmodSync(temporary, 0o755);
  renameSync(temporary, target);
}

async function declarations() {
  const { spawnSync } = await import("node:child_process");
  rmSync(join(dist, "types"), { recursive: true, force: true });
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { status } = spawnSync(process.execPath, [tsc, "-p", "tsconfig.types.json"], {
    cwd: root,
    stdio: ["ignore", 2, 2],
  });
  if (status !== 0) throw new Error("the declarations could not be emitted");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await build({ types: process.argv.includes("--types") });
}
