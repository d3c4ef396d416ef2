// Loads the parser and its grammars. V8 must not optimize them: their largest functions take it hundreds of milliseconds
// of processor time and 15 MB, while parsing a file of 1,000 lines takes 35 ms instead of 20.

import { setFlagsFromString } from "node:v8";
import { Language, Parser } from "web-tree-sitter";
import { unpacked } from "#grammars";
import { once } from "../../once.ts";
import type { Grammar } from "../language.ts";

/**
 * Tier-up at once is off permanently: it would apply to each function of ours that is compiled on first use. Other modules
 * are optimized as they get hot, which is V8's default and depends on the second flag. A module keeps the value that the
 * second flag had when the module was made.
 */
const eagerTierUp = "wasm-tier-up";
const tierUpWhenHot = "wasm-dynamic-tiering";

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

/** Flags belong to the whole process, so the second one is set back at once. */
function compiled(name: Grammar | "runtime"): object {
  const bytes = unpacked(name);
  for (const flag of [eagerTierUp, tierUpWhenHot]) setFlagsFromString(`--no-${flag}`);
  try {
    return new WebAssembly.Module(bytes);
  } finally {
    setFlagsFromString(`--${tierUpWhenHot}`);
  }
}
