// Bundles the program and the library into dist/, and with --types emits the library's declarations. Nothing is
// done when dist/ already holds what the sources say, so every start and every test run can call it. With --readable
// the program's functions keep their names, until it is built without.
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
export async function build({ types = false, readable = false } = {}) {
  const now = fingerprint();
  const small = types; // declarations are made for packages
  const wanted = readable ? `${now} readable` : small ? `${now} small` : now;
  const bundled = !isCurrent("bundle", wanted) && (readable || !isCurrent("bundle", `${now} small`));
  if (bundled) {
    await bundleAll({ readable, small });
    stamp("bundle", wanted);
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
  const now = fingerprint();
  return isCurrent("bundle", now) || isCurrent("bundle", `${now} small`);
}

/** What dist/ is made from, by name, size and time of each file: a removed source counts as a change. */
function fingerprint() {
  const hash = createHash("sha256");
  const sources = ["src", "web"]
    .flatMap(folder => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .sort();
  for (const name of [
    "tools/build.mjs",
    "tools/bundle.mjs",
    "tools/grammars.mjs",
    "tools/notices.mjs",
    "tools/page.mjs",
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

/** Where each is looked for first; their own inputs come before them. */
const entries = ["polyfs.cjs", "index.js"];

async function bundleAll(options) {
  const { bundle } = await import("./bundle.mjs");
  const { files, metafiles } = await bundle(root, dist, options);
  files.push({ name: noticesName, contents: notices(root, metafiles) });
  // Entries last, each file put in place by a rename: a program that starts meanwhile gets the old one or the
  // new one, whole.
  for (const folder of ["chunks", "grammars", "review"]) mkdirSync(join(dist, folder), { recursive: true });
  for (const file of files.toSorted((a, b) => entries.indexOf(a.name) - entries.indexOf(b.name))) put(file);
  const kept = new Set(files.map(({ name }) => name));
  for (const folder of ["", "chunks"]) {
    for (const entry of readdirSync(join(dist, folder), { withFileTypes: true })) {
      const name = join(folder, entry.name);
      if (/\.[cm]?js$/.test(name) && entry.isFile() && !kept.has(name))
        rmSync(join(dist, name), { force: true });
    }
  }
}

function put({ name, contents }) {
  const target = join(dist, name);
  const temporary = join(dist, `.${basename(name)}.${process.pid}`);
  writeFileSync(temporary, contents);
  if (name === "polyfs.cjs") chmodSync(temporary, 0o755);
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
  const given = option => process.argv.includes(option);
  await build({ types: given("--types"), readable: given("--readable") });
}
