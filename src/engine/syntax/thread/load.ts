// Loads the parser and its grammars. V8 must not optimize them: their largest functions take it hundreds of milliseconds
// of processor time and 15 MB, while parsing a file of 1,000 lines takes 35 ms instead of 20.

import { setFlagsFromString } from "node:v8";
import { Language, Parser } from "web-tree-sitter";
import { unpacked } from "#grammars";
import { once } from "../../once.ts";
import type { Grammar } from "../language.ts";

/** Optimize functions when they are compiled, or later when they are hot. */
const optimizing = ["wasm-tier-up", "wasm-dynamic-tiering"];

/** What of WebAssembly is used here; Node's types lack it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: object };
};

const runtime = once(() => Parser.init({ instantiateWasm }));
const languages = new Map<Grammar, Language>();

/** Of one thread; parsers of different grammars can be used in turn. */
export async function parserOf(grammar: Grammar): Promise<Parser> {
  await runtime();
  return unoptimized(() => {
    const parser = new Parser();
    parser.setLanguage(languageOf(grammar));
    return parser;
  });
}

function languageOf(grammar: Grammar): Language {
  const known = languages.get(grammar);
  if (known !== undefined) return known;
  const language = Language.loadSync(new WebAssembly.Module(unpacked(grammar)));
  languages.set(grammar, language);
  return language;
}

function instantiateWasm(imports: object, done: (instance: object, module: object) => void): object {
  return unoptimized(() => {
    const module = new WebAssembly.Module(unpacked("runtime"));
    const instance = new WebAssembly.Instance(module, imports);
    done(instance, module);
    return instance.exports;
  });
}

let depth = 0;

/**
 * What the parser's functions are called in. V8 compiles a function when it is first called, and some of its versions
 * read these flags then, others when the module is made. They belong to the whole process and are set back at once:
 * with other flags than its own, Node starts threads and loads its modules without their compiled code, which takes
 * twice as long.
 */
export function unoptimized<T>(use: () => T): T {
  if (depth++ === 0) for (const flag of optimizing) setFlagsFromString(`--no-${flag}`);
  try {
    return use();
  } finally {
    if (--depth === 0) for (const flag of optimizing) setFlagsFromString(`--${flag}`);
  }
}
