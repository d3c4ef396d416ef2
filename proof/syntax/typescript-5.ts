// TypeScript 5, whose parser and language service can be asked; TypeScript 7 has no such interface. It is fetched when
// it is first needed, into its own folder: beside version 7 both would claim the name `tsc`.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { repository } from "../places.ts";

const folder = join(repository, "node_modules/.proof-typescript");
const file = join(folder, "node_modules/typescript/lib/typescript.js");

// biome-ignore lint/suspicious/noExplicitAny: its types come with it, and it is not there when ours are checked
export type TypeScript = any;

/** TypeScript's language service for these files, by their paths. */
export function languageService(
  ts: TypeScript,
  texts: ReadonlyMap<string, string>,
  directory: string,
): TypeScript {
  return ts.createLanguageService({
    getCompilationSettings: () => ({
      target: 99,
      module: 199,
      moduleResolution: 99,
      allowImportingTsExtensions: true,
      noEmit: true,
      skipLibCheck: true,
      allowJs: true,
      jsx: 1,
      types: [],
    }),
    getScriptFileNames: () => [...texts.keys()],
    getScriptVersion: () => "1",
    getScriptSnapshot: (path: string) => {
      const text = texts.get(path) ?? ts.sys.readFile(path);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => directory,
    getDefaultLibFileName: (options: object) => ts.getDefaultLibFilePath(options),
    fileExists: (path: string) => texts.has(path) || ts.sys.fileExists(path),
    readFile: (path: string) => texts.get(path) ?? ts.sys.readFile(path),
    directoryExists: (path: string) => path === directory || ts.sys.directoryExists(path),
    getDirectories: ts.sys.getDirectories,
  });
}

/** Undefined if it is not there and cannot be fetched. */
export async function typescript5(): Promise<TypeScript | undefined> {
  if (!existsSync(file)) {
    const args = ["install", "--prefix", folder, "--no-save", "--ignore-scripts", "typescript@5"];
    spawnSync("npm", args, { stdio: "ignore", timeout: 120_000 });
  }
  if (!existsSync(file)) return undefined;
  return (await import(pathToFileURL(file).href)).default;
}
