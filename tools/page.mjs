// The review page, as esbuild bundles it into dist/review/: index.html with app.js and app.css beside it, and app.html,
// which holds all of them in one file for clients that show it inside a conversation (MCP Apps).
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

/** The files, by name below dist/, and esbuild's account of what is in them. */
export async function pageFiles(root) {
  const { outputFiles, metafile } = await build({
    ...pageOptions(root),
    minify: true,
    metafile: true,
    write: false,
    logLevel: "warning",
  });
  const text = name => outputFiles.find(({ path }) => path.endsWith(name))?.text.trimEnd() ?? "";
  const [script, style] = [text("app.js"), text("app.css")];
  const page = readFileSync(join(root, "web/index.html"), "utf8");
  const files = {
    "index.html": page,
    "app.js": script,
    "app.css": style,
    "app.html": inOne(page, script, style),
  };
  return {
    files: Object.entries(files).map(([name, contents]) => ({ name: `review/${name}`, contents })),
    metafile,
  };
}

/** How the page's script and style are bundled. */
export function pageOptions(root) {
  return {
    absWorkingDir: root,
    entryPoints: [
      { in: "web/main.tsx", out: "app" },
      { in: "web/styles/page.css", out: "app" },
    ],
    outdir: "dist/review",
    bundle: true,
    platform: "browser",
    format: "esm",
    target: ["chrome120", "firefox121", "safari17.2"],
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    charset: "utf8",
  };
}

/** esbuild never writes `</script` or `</style` into what it makes, so the texts fit between their tags. */
function inOne(page, script, style) {
  return page
    .replace(/<link rel="stylesheet"[^>]*>/, () => `<style>${style}</style>`)
    .replace(/<script type="module"[^>]*><\/script>/, () => `<script type="module">${script}</script>`)
    .replace("<html ", "<html data-embedded ");
}
