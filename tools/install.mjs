// Installs the dependencies when node_modules is not what the lock file says, so that `npm start` and `npm test`
// work as the first command in a fresh clone. Plain Node: it runs before anything is installed.
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

export function install() {
  refuseOldNode();
  if (isInstalled()) return;
  const release = lock();
  try {
    if (!isInstalled()) runNpmCi();
  } finally {
    release();
  }
}

/** Otherwise the first thing to fail would be some call that an old Node does not have. */
function refuseOldNode() {
  const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const [wanted, present] = [engines.node.slice(">=".length), process.versions.node].map(version =>
    version.split(".").map(Number),
  );
  if (present[0] > wanted[0] || (present[0] === wanted[0] && present[1] >= wanted[1])) return;
  process.stderr.write(
    `polyfs: Node ${present.join(".")} is too old. Install Node ${wanted.join(".")} or later.\n`,
  );
  process.exit(1);
}

/** Compares npm's own record of what it installed with the lock file, package by package. */
function isInstalled() {
  const wanted = packages("package-lock.json");
  const present = packages("node_modules/.package-lock.json");
  if (wanted === undefined || present === undefined) return false;
  return Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      path === "" || (present[path] === undefined ? optional === true : present[path].version === version),
  );
}

function packages(lockFile) {
  try {
    return JSON.parse(readFileSync(join(root, lockFile), "utf8")).packages;
  } catch {
    return undefined;
  }
}

function runNpmCi() {
  process.stderr.write("polyfs: installing dependencies (npm ci)\n");
  const args = ["ci", "--include=dev", "--prefer-offline", "--loglevel=error", "--no-audit", "--no-fund"];
  const npm = process.env.npm_execpath;
  // Everything that npm says goes to stderr: stdout belongs to the protocol.
  const options = { cwd: root, stdio: ["ignore", 2, 2] };
  const { status, error } = npm?.endsWith("js")
    ? spawnSync(process.execPath, [npm, ...args], options)
    : spawnSync("npm", args, { ...options, shell: process.platform === "win32" });
  if (status !== 0) {
    process.stderr.write(
      `polyfs: npm ci failed${error ? ` (${error.message})` : ""}; run it by hand to see why\n`,
    );
    process.exit(1);
  }
}

/** Clients start a server twice at once now and then: the second waits for the first one's install. */
function lock() {
  const file = join(root, ".install.lock");
  for (;;) {
    try {
      writeFileSync(file, String(process.pid), { flag: "wx" });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
      if (!isHeld(file)) rmSync(file, { force: true });
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    }
  }
}

function isHeld(file) {
  try {
    const holder = Number(readFileSync(file, "utf8"));
    // Empty: made, but not written to yet.
    if (holder > 0) process.kill(holder, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
