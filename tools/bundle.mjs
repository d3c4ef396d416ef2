// What dist/ is made of, as esbuild bundles it:
//
//   polyfs.cjs      the entry of the program: compiles program.cjs, from a cache where there is one
//   program.cjs     the program, in one file: parts that a start does not need are run when they are asked for
//   index.js        the library, with chunks/ of its own
//   encodings.cjs, protocol.cjs, tokens.cjs, postgres.cjs
//                   packages that few need and that are large: loaded by themselves, and late
//   pdf.cjs         the same for PDFs: pdf-thread.mjs
//   review/         the review page (page.mjs)
//   review.cjs      where the files of the review page are: review/
//   text.cjs        where the text thread's program is: text-thread.cjs
//   syntax.cjs      where the parsing thread's program is: syntax-thread.cjs, with grammars/ beside it
import { join, relative } from "node:path";
import { build } from "esbuild";
import { grammarFiles, grammarsBeside, placeOf } from "./grammars.mjs";
import { pageFiles } from "./page.mjs";

const packages = {
  "iconv-lite": "encodings.cjs",
  "@modelcontextprotocol/server": "protocol.cjs",
  jose: "tokens.cjs",
  pg: "postgres.cjs",
};

/** Optional modules of packages, which are not bundled. */
const optional = ["pg-native", "cloudflare:sockets"];

/** Node's modules that cost milliseconds to load and that the first answers do without. */
const late = ["node:child_process", "node:crypto", "node:worker_threads", "node:zlib"];

/** The files, by name below `dist`, and esbuild's account of what is in them. Where the program is to be `readable`,
 *  its functions keep their names, for profiles. Where all of it is to be `small`, compressing takes its time. */
export async function bundle(root, dist, { readable = false, small = false } = {}) {
  const common = commonOptions(root);
  const results = await Promise.all([
    ...Object.entries(packages).map(([source, name]) =>
      build({ ...common, ...commonJs(source, name, dist), external: optional }),
    ),
    build({ ...common, ...commonJs("src/cli/polyfs.ts", "polyfs.cjs", dist) }),
    build({ ...programOptions(root, dist), minify: !readable }),
    build({
      ...common,
      entryPoints: { "pdf-thread": "src/engine/document/pdf-program.ts" },
      outdir: dist,
      format: "esm",
      outExtension: { ".js": ".mjs" },
      external: ["@napi-rs/canvas"],
      banner: { js: 'import{createRequire}from"node:module";const require=createRequire(import.meta.url);' },
    }),
    build({
      ...common,
      ...commonJs("src/engine/syntax/thread/program.ts", "syntax-thread.cjs", dist),
      plugins: [grammarsBeside],
      // Its ES module imports one of Node's at run time, and Node then loads all that it has for ES modules.
      alias: { "web-tree-sitter": join(root, "node_modules/web-tree-sitter/web-tree-sitter.cjs") },
    }),
    build({ ...common, ...commonJs("src/engine/edit/thread/program.ts", "text-thread.cjs", dist) }),
    build({
      ...common,
      // Names in stack traces stay readable, and Node shows a short line where an exception is not caught. It costs
      // the package 45 KB.
      minify: false,
      minifyWhitespace: true,
      minifySyntax: true,
      lineLimit: 160,
      entryPoints: { index: "src/index.ts" },
      outdir: dist,
      chunkNames: "chunks/[name]-[hash]",
      splitting: true,
      format: "esm",
      external: ["@vscode/ripgrep"],
      plugins: [sharedPackages],
      // CommonJS packages inside an ES module bundle ask for Node's own modules by `require`.
      banner: { js: "const require=process.getBuiltinModule;" },
    }),
  ]);
  const files = results.flatMap(({ outputFiles }) =>
    outputFiles.map(({ path, contents }) => ({ name: relative(dist, path), contents })),
  );
  files.push({ name: "syntax.cjs", contents: placeOf("syntax-thread.cjs") });
  files.push({ name: "review.cjs", contents: placeOf("review") });
  files.push({ name: "text.cjs", contents: placeOf("text-thread.cjs") });
  files.push({ name: "pdf.cjs", contents: placeOf("pdf-thread.mjs") }, ...grammarFiles(root, { small }));
  const page = await pageFiles(root);
  files.push(...page.files);
  return {
    files: files.map(file => (file.name === "program.cjs" ? { ...file, contents: inAscii(file) } : file)),
    metafiles: [...results.map(({ metafile }) => metafile), page.metafile],
  };
}

function commonOptions(root) {
  return {
    absWorkingDir: root,
    bundle: true,
    platform: "node",
    target: "node20.19",
    minify: true,
    legalComments: "none",
    logLevel: "warning",
    metafile: true,
    write: false,
  };
}

function commonJs(source, name, outdir) {
  const entryPoints = { [name.slice(0, name.lastIndexOf("."))]: source };
  return { entryPoints, outdir, format: "cjs", outExtension: { ".js": ".cjs" } };
}

/** How program.cjs is made. */
export function programOptions(root, dist) {
  return {
    ...commonOptions(root),
    ...commonJs("src/cli/program.ts", "program.cjs", dist),
    supported: { "dynamic-import": false },
    plugins: [besideTheProgram, ripgrepByItsPlace],
    banner: { js: head },
    footer: { js: "})" },
    lineLimit: 500, // a stack trace then has a position that an editor can open
  };
}

const beside = {
  ...packages,
  "#syntax": "syntax.cjs",
  "#text": "text.cjs",
  "#pdf": "pdf.cjs",
  "#review": "review.cjs",
};

/** Packages that are beside the program as files of their own. */
const besideTheProgram = {
  name: "beside the program",
  setup({ onResolve }) {
    onResolve({ filter: /^[^.]/ }, ({ path }) =>
      Object.hasOwn(beside, path) ? { path: `./${beside[path]}`, external: true } : undefined,
    );
  },
};

/** The library's entry and its chunks are in different folders, so a relative name will not do. */
const sharedPackages = {
  name: "shared packages",
  setup({ onResolve }) {
    onResolve({ filter: /^[^.]/ }, ({ path }) =>
      Object.hasOwn(packages, path)
        ? { path: `#${packages[path].replace(".cjs", "")}`, external: true }
        : undefined,
    );
    onResolve({ filter: /^#(syntax|text|pdf|review)$/ }, ({ path }) => ({ path, external: true }));
  },
};

/** The package says where ripgrep is, but as an ES module, and loading the first of these takes longer than a small
 *  search, as does Node's own resolution of it. So it is looked for where installers put it, beside the package or
 *  inside of it, and asked for by name only where it is in neither. */
const ripgrepByItsPlace = {
  name: "ripgrep by its place",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@vscode\/ripgrep$/ }, ({ kind, path }) =>
      kind === "require-resolve" ? { path, external: true } : { path, namespace: "ripgrep" },
    );
    onLoad({ filter: /.*/, namespace: "ripgrep" }, () => ({ contents: ripgrep }));
  },
};

const ripgrep = `
  const { existsSync, realpathSync } = require("node:fs");
  const { join } = require("node:path");
  const { platform, arch, env } = process;
  const name = "ripgrep-" + platform + "-" + (env.npm_config_arch || arch);
  const program = "bin/rg" + (platform === "win32" ? ".exe" : "");
  function byPlace() {
    const found = require.resolve.paths("x").map(path => join(path, "@vscode/ripgrep")).find(existsSync);
    if (found === undefined) return;
    const real = realpathSync(found);
    const places = [join(real, "node_modules/@vscode", name), join(real, "..", name)];
    return places.map(place => join(place, program)).find(existsSync);
  }
  function byName() {
    const seenFromThere = require("node:module").createRequire(require.resolve("@vscode/ripgrep"));
    return seenFromThere.resolve("@vscode/" + name + "/" + program);
  }
  exports.rgPath = byPlace() ?? byName();`;

/** What the program is wrapped in: one expression, which the entry compiles as it is. A late module is stood for by
 *  an object that loads it when something of it is first used. The wrapper declares no names but those that esbuild
 *  keeps free in CommonJS: a function of the program with the same name would replace any other. */
const head = `(function(exports,require,module){
require=(load=>{
const late=new Map(${JSON.stringify(late)}.map(name=>{
let loaded;
return [name,new Proxy({},{get:(_,key)=>(loaded??=load(name))[key]})];
}));
return Object.assign(name=>late.get(name)??load(name),{resolve:load.resolve});
})(require);
`;

/** The entry reads the program byte by character, which is quickest. esbuild escapes what is not ASCII in strings,
 *  but not in regular expressions. */
function inAscii({ contents }) {
  const escaped = char => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return Buffer.from(
    Buffer.from(contents)
      .toString("utf8")
      .replace(/[^\0-\x7f]/g, escaped),
  );
}
