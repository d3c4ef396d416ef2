// Where things are, seen from the bundle that run.mjs makes (node_modules/.bench/main.mjs).
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const repository = fileURLToPath(new URL("../../", import.meta.url));

/** A copy of the build, so that a concurrent build does not remove it, in a place from which ripgrep is found. */
export function snapshot(built: string, name: string): string {
  if (programIn(built) === undefined) throw new Error(`${built} holds no polyfs.cjs: run npm run build`);
  const copy = join(repository, "node_modules/.bench", `${name}-${process.pid}`);
  mkdirSync(copy, { recursive: true });
  const parts = readdirSync(built).filter(name => /\.c?js$/.test(name) || name === "chunks");
  for (const part of parts) cpSync(join(built, part), join(copy, part), { recursive: true });
  const imports = { "#encodings": "./encodings.js" };
  writeFileSync(join(copy, "package.json"), JSON.stringify({ type: "module", imports }));
  process.on("exit", () => rmSync(copy, { recursive: true, force: true }));
  return copy;
}

/** The program to start. Older builds, for comparison, have it under another name. */
export function programIn(directory: string): string | undefined {
  return ["polyfs.cjs", "polyfs.js"].map(name => join(directory, name)).find(existsSync);
}

/** Where the copy keeps its compiled code: apart from the user's, and gone with it. */
export function codeCacheOf(copy: string): string {
  return join(copy, "code");
}
