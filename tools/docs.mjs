// Builds the documentation as a static site into site/, from the same Markdown that GitHub shows, and the reference of
// the library from its declarations. Nothing is fetched. With --check it also looks for dead links, and asks the search
// for words whose pages are known, in Chromium where there is one.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { install } from "./install.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const site = join(root, "site");
/** Words, and the page that has to be among the answers. */
const known = { undo: "guides/undo.html", bubblewrap: "guides/sandbox.html", createHandler: "api.html" };

install();
await buildSite();
if (process.argv.includes("--check")) await checkSite();

async function buildSite() {
  const { renderer } = await import("./site/markdown.mjs");
  const { layout } = await import("./site/layout.mjs");
  const { siteGroups } = await import("./site/pages.mjs");
  const { indexOf } = await import("./site/search.mjs");
  rmSync(site, { recursive: true, force: true });
  const groups = siteGroups(root);
  const pages = groups.flatMap(group => group.pages);
  const addresses = new Map(pages.map(({ source, address }) => [source, address]));
  const repository = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).homepage.replace(/#.*/, "");
  const render = renderer({
    addresses,
    repository,
    asset: copyAsset,
    exists: source => existsSync(join(root, source)),
  });
  for (const page of pages) {
    page.text =
      page.source === "docs/api.md" ? await apiText() : readFileSync(join(root, page.source), "utf8");
    page.title = titleOf(page.text);
  }
  const sections = [];
  for (const page of pages) {
    const { html, sections: own } = render(page);
    for (const { heading, anchor, text } of own) {
      if (heading === "" && text.length === 0) continue;
      const address = anchor === "" ? page.address : `${page.address}#${anchor}`;
      sections.push({ title: page.title, heading, address, text: text.join(" ") });
    }
    put(page.address, layout({ page, html, groups }));
  }
  put("search-index.js", `window.searchIndex=${JSON.stringify(indexOf(sections))}`);
  put("style.css", readFileSync(join(root, "tools/site/style.css")));
  const { build } = await import("esbuild");
  await build({
    entryPoints: [join(root, "tools/site/client.mjs")],
    outfile: join(site, "client.js"),
    bundle: true,
    minify: true,
    logLevel: "error",
  });
  console.log(`site/: ${pages.length} pages, ${sections.length} sections in the search`);
}

async function apiText() {
  const { extractApi } = await import("./api/extract.mjs");
  const { apiPage } = await import("./site/api-page.mjs");
  return apiPage((await extractApi(root)).model);
}

function titleOf(text) {
  return (/^# (.*)$/m.exec(text)?.[1] ?? "polyfs").replaceAll("`", "");
}

function put(address, content) {
  const file = join(site, address);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

/** Images of the documentation become part of the site. */
function copyAsset(source) {
  if (!/\.(png|svg)$/.test(source) || !existsSync(join(root, source))) return false;
  const target = join(site, source.replace(/^docs\//, ""));
  mkdirSync(dirname(target), { recursive: true });
  cpSync(join(root, source), target);
  return true;
}

async function checkSite() {
  const { deadLinks } = await import("./site/dead-links.mjs");
  const { dead, followed, external, pages } = deadLinks(site);
  console.log(`${followed} links in ${pages} pages followed, ${external} external ones not`);
  const problems = [...dead];
  const { find, how } = await searcher();
  for (const [word, address] of Object.entries(known)) {
    const found = await find(word);
    if (!found.some(one => one.split("#")[0] === address))
      problems.push(
        `the search for ${word} does not find ${address}, but ${found.slice(0, 3).join(", ") || "nothing"}`,
      );
  }
  console.log(`the search was asked for ${Object.keys(known).join(", ")} ${how}`);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  await find.close?.();
}

/** Asks as a reader does where there is a browser; otherwise the function that the browser would run. */
async function searcher() {
  const browser = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
    existsSync,
  );
  if (browser === undefined) {
    const { search } = await import("./site/search.mjs");
    const index = JSON.parse(readFileSync(join(site, "search-index.js"), "utf8").replace(/^[^=]*=/, ""));
    return { find: word => search(index, word).map(({ address }) => address), how: "without a browser" };
  }
  const { chromium } = await import("playwright-core");
  const opened = await chromium.launch({ executablePath: browser, args: ["--no-sandbox"] });
  const page = await opened.newPage();
  // A page in a folder, whose links have to lead up again.
  await page.goto(`file://${join(site, "guides/undo.html")}`);
  const find = async word => {
    await page.fill("#search", "");
    await page.fill("#search", word);
    await page.waitForSelector("#results li a");
    const links = await page.$$eval("#results li a", all => all.map(link => link.href));
    return links.map(link => link.replace(`file://${site}/`, ""));
  };
  find.close = () => opened.close();
  return { find, how: "in Chromium" };
}
