// Keeps package-lock.json usable anywhere: no host names in it, and an entry for every optional package. Where a
// registry mirror lacks the packages of other platforms, npm leaves them out of the lock file, and `npm ci` then
// refuses it. `node tools/lock.mjs` fills the holes after an `npm install`; with --check it only reports them.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const file = join(dirname(fileURLToPath(import.meta.url)), "../package-lock.json");
const lock = JSON.parse(readFileSync(file, "utf8"));
const faults = [];

for (const [path, entry] of Object.entries(lock.packages)) {
  if ("resolved" in entry) {
    faults.push(`${path} names a host`);
    delete entry.resolved;
  }
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    if (isPresent(path, name)) continue;
    faults.push(`${path} wants ${name}, which is missing`);
    lock.packages[`node_modules/${name}`] = {
      version: exact(name, version),
      ...platform(name),
      dev: entry.dev,
      optional: true,
    };
  }
}

if (process.argv.includes("--check")) {
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) console.error("Run: node tools/lock.mjs");
  process.exitCode = faults.length > 0 ? 1 : 0;
} else if (faults.length > 0) {
  lock.packages = Object.fromEntries(
    Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, "en")),
  );
  writeFileSync(file, `${JSON.stringify(lock, undefined, 2)}\n`);
}

/** As Node looks for it: beside the importing package, or in a node_modules further up. */
function isPresent(path, name) {
  for (let at = path; ; at = at.slice(0, Math.max(0, at.lastIndexOf("/node_modules/")))) {
    if (`${at === "" ? "" : `${at}/`}node_modules/${name}` in lock.packages) return true;
    if (at === "") return false;
  }
}

function exact(name, version) {
  if (/^\d+\.\d+\.\d+\S*$/.test(version)) return version;
  throw new Error(`${name} is wanted as ${version}: add it with npm where the registry has it`);
}

/** What a platform package is for, as its name says it: `@scope/binding-linux-x64-musl`. */
function platform(name) {
  const words = name.split("/").at(-1).split("-");
  const os = words.find(word =>
    /^(aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)$/.test(word),
  );
  const cpu = words.find(word =>
    /^(arm|arm64|ia32|loong64|mips64el|ppc64|riscv64|s390x|wasm32|x64|universal)$/.test(word),
  );
  if (os === undefined && cpu !== "wasm32") throw new Error(`${name} does not say what system it is for`);
  const libc = words.some(word => /^musl/.test(word))
    ? "musl"
    : words.some(word => /^gnu/.test(word))
      ? "glibc"
      : undefined;
  return {
    cpu: cpu === undefined || cpu === "universal" ? undefined : [cpu],
    libc: os === "linux" && libc !== undefined ? [libc] : undefined,
    os: os === undefined ? undefined : [os],
  };
}
