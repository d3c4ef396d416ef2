// `node tools/trace.mjs < report.txt` says which lines of the sources a stack trace of the program names. The published
// program is minified; this bundles it again, from the same sources, with a map. Check out the version first.
import { SourceMap } from "node:module";
import { dirname, join, relative } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { programOptions } from "./bundle.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");
const { outputFiles } = await build({ ...programOptions(root, dist), sourcemap: "external" });
const map = new SourceMap(JSON.parse(outputFiles.find(({ path }) => path.endsWith(".map")).text));

const trace = await text(process.stdin);
process.stdout.write(
  trace.replace(/[^\s(]*program\.cjs:(\d+):(\d+)/g, (place, line, column) => {
    const { originalSource, originalLine, originalColumn } = map.findEntry(line - 1, column - 1);
    if (originalSource === undefined) return place;
    return `${relative(root, join(dist, originalSource))}:${originalLine + 1}:${originalColumn + 1}`;
  }),
);
