// Where things are, seen from the bundle that run.mjs makes (node_modules/.bench/main.mjs).
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const repository = fileURLToPath(new URL("../../", import.meta.url));

/** A copy of what was built, so that a build meanwhile does not take it away. It lies where ripgrep is found. */
export function snapshot(built: string, name: string): string {
  if (!existsSync(join(built, "polyfs.js")))
    throw new Error(`${built} holds no polyfs.js: run npm run build`);
  const copy = join(repository, "node_modules/.bench", `${name}-${process.pid}`);
  mkdirSync(copy, { recursive: true });
  const parts = readdirSync(built).filter(name => name.endsWith(".js") || name === "chunks");
  for (const part of parts) cpSync(join(built, part), join(copy, part), { recursive: true });
  const imports = { "#encodings": "./encodings.js" };
  writeFileSync(join(copy, "package.json"), JSON.stringify({ type: "module", imports }));
  process.on("exit", () => rmSync(copy, { recursive: true, force: true }));
  return copy;
}
