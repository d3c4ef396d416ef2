// Runs once before the tests: bundles the program into dist/ when a source is newer than the bundle, because
// tests that talk to a process talk to the one that users start.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");
const script = join(root, "tools/build.mjs");
const bundle = join(root, "dist/polyfs.js");

export default function setup(): void {
  if (!existsSync(script) || !isStale()) return;
  const { status, stderr, error } = spawnSync(process.execPath, [script], { cwd: root, encoding: "utf8" });
  // A tree that does not bundle must not hide the tests that need no process; those that do will say so.
  if (status !== 0) console.error(`The bundle is out of date: ${error?.message ?? stderr}`);
}

function isStale(): boolean {
  if (!existsSync(bundle)) return true;
  const built = statSync(bundle).mtimeMs;
  const sources = readdirSync(join(root, "src"), { recursive: true, withFileTypes: true });
  const files = sources.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name));
  return [script, join(root, "package.json"), ...files].some(file => statSync(file).mtimeMs > built);
}
