// The grammars as they are in dist/grammars: compressed WebAssembly. Compressing as far as it goes takes half a minute,
// so only a package is made so.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

const names = [
  ...["bash", "c-sharp", "cpp", "css", "go", "ini", "java", "javascript", "php", "powershell", "python"],
  ...["regex", "ruby", "rust", "tsx", "typescript"],
];

/** Where they come from, for the licences. */
export const grammarPackage = "node_modules/@vscode/tree-sitter-wasm";

export function grammarFiles(root, { small }) {
  const from = name => join(root, grammarPackage, `wasm/tree-sitter-${name}.wasm`);
  const runtime = join(root, "node_modules/web-tree-sitter/web-tree-sitter.wasm");
  return [["runtime", runtime], ...names.map(name => [name, from(name)])].map(([name, path]) => ({
    name: `grammars/${name}.wasm.br`,
    contents: compressed(readFileSync(path), small),
  }));
}

function compressed(bytes, small) {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: small ? constants.BROTLI_MAX_QUALITY : 4,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return brotliCompressSync(bytes, { params });
}

/** What the thread loads them with. */
export const grammarsBeside = {
  name: "grammars beside the thread",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^#grammars$/ }, ({ path }) => ({ path, namespace: "grammars" }));
    onLoad({ filter: /.*/, namespace: "grammars" }, () => ({
      contents: `
        const { readFileSync } = require("node:fs");
        const { join } = require("node:path");
        const { brotliDecompressSync } = require("node:zlib");
        exports.unpacked = name =>
          brotliDecompressSync(readFileSync(join(__dirname, "grammars", name + ".wasm.br")));`,
    }));
  },
};

/** Tells the program and the library where a thread's program is, whatever file they are themselves. */
export function placeOf(name) {
  return `exports.program=require("node:path").join(__dirname,"${name}");\n`;
}
