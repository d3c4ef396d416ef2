// Renames by name beside TypeScript's own: no place that is called sure may be another symbol, and every place of the
// symbol is either sure or listed.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Choice, usesInFiles } from "../../src/engine/syntax/rename.ts";
import { structureOf } from "../../src/engine/syntax/structure.ts";
import { repository } from "../places.ts";
import type { Trial } from "../suite.ts";
import { hostileFiles } from "./hostile-names.ts";
import { languageService, type TypeScript, typescript5 } from "./typescript-5.ts";

function placesOf(list: readonly { fileName: string; textSpan: { start: number } }[]): Set<string> {
  return new Set(list.map(({ fileName, textSpan }) => `${fileName}:${textSpan.start}`));
}

export async function names(trial: Trial): Promise<void> {
  const ts = await typescript5();
  if (ts === undefined) {
    trial.tally.skipped("names", "TypeScript 5 could not be fetched");
    return;
  }
  await hostileNames(trial, ts);
  const root = join(repository, "src");
  const paths = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter(name => name.endsWith(".ts") && !name.endsWith(".d.ts"))
    .map(name => join(root, name))
    .sort(); // a seed must pick the same symbols on every file system
  const texts = new Map(paths.map(path => [path, readFileSync(path, "utf8")]));
  const service = languageService(ts, texts, repository);
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
      const isShown = (key: string) => texts.has(key.slice(0, key.lastIndexOf(":")));
      const lost = [...right].find(key => isShown(key) && !listed.has(key));
      if (lost !== undefined) throw new Error(`${lost} is neither sure nor listed`);
      // A member that a library declares too: no list can hold its declaration there, so the class must be named.
      const library = [...right].find(key => !isShown(key));
      if (library !== undefined && certain.length > 0 && found.heirs.length === 0)
        throw new Error(`${library} is renamed with it, and nothing says that its class extends another`);
      if (found.declared.length > 1) refused++;
      sure += certain.length;
      unsure += keys(found.unsure).length;
    });
  }
  trial.say(
    `names: ${tried} symbols, ${sure} places sure, ${unsure} listed, ${refused} refused as ambiguous`,
  );
}

/** Every declaration of every name in the small programs, chosen in turn. */
async function hostileNames(trial: Trial, ts: TypeScript): Promise<void> {
  const folder = "/hostile";
  const texts = new Map(Object.entries(hostileFiles).map(([name, text]) => [join(folder, name), text]));
  const service = languageService(ts, texts, folder);
  const files = [...texts].map(([path, text]) => ({ path, text }));
  const names = new Set([...texts.values()].flatMap(text => text.match(/[A-Za-z_]\w*/g) ?? []));
  for (const name of names) {
    const { declared } = await usesInFiles(files, name);
    for (const one of declared) {
      if (!one.distinct) continue;
      const path = files[one.file]?.path ?? "";
      const locations = (providePrefixAndSuffixTextForRename: boolean) =>
        service.findRenameLocations(path, one.start, false, false, { providePrefixAndSuffixTextForRename });
      if (locations(false) === undefined) continue;
      await trial.tally.attempt(`names ${name} at ${path}:${one.start}`, async () => {
        const choose: Choice = list =>
          list.find(({ file, start }) => file === one.file && start === one.start);
        const found = await usesInFiles(files, name, choose);
        const keys = (list: readonly (readonly number[])[]) =>
          list.flatMap((starts, i) => starts.map(start => `${files[i]?.path}:${start}`));
        const sure = keys(found.sure.map(list => list.map(({ start }) => start)));
        const all = placesOf(locations(false));
        const wrong = sure.find(key => !all.has(key));
        if (wrong !== undefined) throw new Error(`${wrong} is called sure, and is another thing`);
        const listed = new Set([...sure, ...keys(found.unsure)]);
        // Places of an alias have another name.
        const isNamed = (key: string) => {
          const at = key.lastIndexOf(":");
          return texts.get(key.slice(0, at))?.startsWith(name, Number(key.slice(at + 1)));
        };
        const lost = [...placesOf(locations(true))].find(key => isNamed(key) && !listed.has(key));
        if (lost !== undefined) throw new Error(`${lost} is neither sure nor listed`);
      });
    }
  }
}
