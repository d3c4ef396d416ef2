// TypeScript 5, whose parser and language service can be asked; TypeScript 7 has no such interface. It is fetched
// when it is first needed, and lies apart: beside version 7 both would claim the name `tsc`.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { repository } from "../places.ts";

const folder = join(repository, "node_modules/.proof-typescript");
const file = join(folder, "node_modules/typescript/lib/typescript.js");

// biome-ignore lint/suspicious/noExplicitAny: its types come with it, and it is not there when ours are checked
export type TypeScript = any;

/** Undefined where it is not there and cannot be fetched. */
export async function typescript5(): Promise<TypeScript | undefined> {
  if (!existsSync(file)) {
    const args = ["install", "--prefix", folder, "--no-save", "--ignore-scripts", "typescript@5"];
    spawnSync("npm", args, { stdio: "ignore", timeout: 120_000 });
  }
  if (!existsSync(file)) return undefined;
  return (await import(pathToFileURL(file).href)).default;
}
