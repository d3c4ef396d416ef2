// Renames by name beside TypeScript's own: no place that is called sure may be another thing, and every place that
// belongs to the thing is either sure or listed.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { usesInFiles } from "../../src/engine/syntax/rename.ts";
import { structureOf } from "../../src/engine/syntax/structure.ts";
import { repository } from "../places.ts";
import type { Trial } from "../suite.ts";
import { typescript5 } from "./typescript-5.ts";

function placesOf(list: readonly { fileName: string; textSpan: { start: number } }[]): Set<string> {
  return new Set(list.map(({ fileName, textSpan }) => `${fileName}:${textSpan.start}`));
}

export async function names(trial: Trial): Promise<void> {
  const ts = await typescript5();
  if (ts === undefined) {
    trial.tally.skipped("names", "TypeScript 5 could not be fetched");
    return;
  }
  const root = join(repository, "src");
  const paths = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter(name => name.endsWith(".ts") && !name.endsWith(".d.ts"))
    .map(name => join(root, name));
  const texts = new Map(paths.map(path => [path, readFileSync(path, "utf8")]));
  const service = ts.createLanguageService({
    getCompilationSettings: () => ({
      target: 99,
      module: 199,
      moduleResolution: 99,
      allowImportingTsExtensions: true,
      noEmit: true,
      skipLibCheck: true,
      types: [],
    }),
    getScriptFileNames: () => paths,
    getScriptVersion: () => "1",
    getScriptSnapshot: (path: string) => {
      const text = texts.get(path) ?? ts.sys.readFile(path);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => repository,
    getDefaultLibFileName: (options: object) => ts.getDefaultLibFilePath(options),
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
  });
  let [sure, unsure, refused] = [0, 0, 0];
  const wanted = trial.long ? 300 : 25;
  let tried = 0;
  for (const path of trial.chance.shuffled(paths)) {
    if (tried >= wanted) break;
    const text = texts.get(path) ?? "";
    const { declared } = await structureOf(path, text);
    const some = declared.filter(({ nameStart, nameEnd }) =>
      /^[A-Za-z_$][\w$]*$/.test(text.slice(nameStart, nameEnd)),
    );
    if (some.length === 0) continue;
    const { nameStart, nameEnd } = trial.chance.pick(some);
    const name = text.slice(nameStart, nameEnd);
    const truth = service.findRenameLocations(path, nameStart, false, false, {});
    if (truth === undefined) continue;
    tried++;
    await trial.tally.attempt(`names ${name} in ${path}`, async () => {
      const files = [...texts]
        .filter(([, body]) => body.includes(name))
        .map(([at, body]) => ({ path: at, text: body }));
      const found = await usesInFiles(files, name);
      const right = placesOf(truth);
      const keys = (list: readonly (readonly number[])[]) =>
        list.flatMap((starts, i) => starts.map(start => `${files[i]?.path}:${start}`));
      const certain = keys(found.sure.map(list => list.map(({ start }) => start)));
      const listed = new Set([...certain, ...keys(found.unsure)]);
      // A name stands for the one thing that is declared by it, which the picked place may only use: a key of an object
      // whose type says what it is.
      const [only] = found.declared;
      const at = only && files[only.file]?.path;
      const meant =
        at === undefined ? undefined : service.findRenameLocations(at, only?.start, false, false, {});
      const same = new Set([...right, ...placesOf(meant ?? [])]);
      const wrong = certain.find(key => !same.has(key));
      if (wrong !== undefined) throw new Error(`${wrong} is called sure, and is another thing`);
      const lost = [...right].find(key => !listed.has(key));
      if (lost !== undefined) throw new Error(`${lost} is neither sure nor listed`);
      if (found.declared.length > 1) refused++;
      sure += certain.length;
      unsure += keys(found.unsure).length;
    });
  }
  trial.say(
    `names: ${tried} symbols, ${sure} places sure, ${unsure} listed, ${refused} refused as ambiguous`,
  );
}
