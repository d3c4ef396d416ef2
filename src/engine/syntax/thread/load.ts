// Loads the parser and its grammars. V8 must not optimize them: their largest functions take it hundreds of milliseconds
// of processor time and 15 MB, while parsing a file of 1,000 lines takes 35 ms instead of 20.

import { setFlagsFromString } from "node:v8";
import { Language, Parser } from "web-tree-sitter";
import { unpacked } from "#grammars";
import { once } from "../../once.ts";
import type { Grammar } from "../language.ts";

/** V8's flags for it. Functions that are compiled on first use would be optimized all the same, so all are compiled now. */
const optimizing = ["wasm-lazy-compilation", "wasm-tier-up", "wasm-dynamic-tiering"];

/** What of WebAssembly is used here; Node's types lack it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: object };
};

const runtime = once(() => Parser.init({ instantiateWasm }));
const languages = new Map<Grammar, Language>();

export async function languageFor(grammar: Grammar): Promise<Language> {
  await runtime();
  const known = languages.get(grammar);
  if (known !== undefined) return known;
  const language = Language.loadSync(compiled(grammar));
  languages.set(grammar, language);
  return language;
}

function instantiateWasm(imports: object, done: (instance: object, module: object) => void): object {
  const module = compiled("runtime");
  const instance = new WebAssembly.Instance(module, imports);
  done(instance, module);
  return instance.exports;
}

/** Flags belong to the whole process, so they are set back at once; a module keeps what was set when it was made. */
function compiled(name: Grammar | "runtime"): object {
  const bytes = unpacked(name);
  for (const flag of optimizing) setFlagsFromString(`--no-${flag}`);
  try {
    return new WebAssembly.Module(bytes);
  } finally {
    for (const flag of optimizing) setFlagsFromString(`--${flag}`);
  }
}
