// Makes docs/images/review-light.png and review-dark.png, the README's picture of the review page, from the real
// program: two agents change a small project, and a real Chromium looks at the page. Run it again when the page
// changes: `node tools/screenshot.mjs`.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { build } from "./build.mjs";
import { smallerPng } from "./png.mjs";
import { files, steps } from "./screenshot-project.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const scratch = mkdtempSync(join(tmpdir(), "polyfs-screenshot-"));
const project = join(scratch, "webshop");
const env = { ...process.env, POLYFS_STATE_DIR: join(scratch, "state"), TZ: "UTC" };
const maxBytes = 200_000;
const children = [];

try {
  await build();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, name)), { recursive: true });
    writeFileSync(join(project, name), text);
  }
  for (const { client, calls } of steps) {
    const call = await agent(client);
    for (const [tool, parameters] of calls) await call(tool, parameters);
  }
  await take(await address());
} finally {
  for (const child of children) child.kill();
  rmSync(scratch, { recursive: true, force: true });
}

async function take(url) {
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  const browser = await chromium.launch({ executablePath });
  try {
    const context = await browser.newContext({
      viewport: { width: 1180, height: 660 },
      deviceScaleFactor: 1.5,
      timezoneId: "UTC",
      locale: "en-GB",
    });
    const page = await context.newPage();
    await page.goto(url);
    const task = page.getByRole("treeitem").nth(1);
    await task.click();
    await task.locator(".twist").click();
    await page.locator(".hunk").first().waitFor();
    mkdirSync(join(root, "docs/images"), { recursive: true });
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      const path = join(root, `docs/images/review-${colorScheme}.png`);
      const picture = smallerPng(await page.screenshot());
      console.log(`${path}: ${picture.length} bytes`);
      if (picture.length > maxBytes) throw new Error(`${path} is larger than ${maxBytes} bytes`);
      writeFileSync(path, picture);
    }
  } finally {
    await browser.close();
  }
}

function start(...args) {
  const child = spawn(process.execPath, [join(root, "dist/polyfs.cjs"), ...args], { env, cwd: project });
  children.push(child);
  return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
}

/** The page's address. */
async function address() {
  const { lines } = start("review", "--no-open", project);
  return (await lines.next()).value;
}

/** A client with a server of its own: the page shows its name. */
async function agent(name) {
  const { child, lines } = start(project);
  const request = async (id, method, params) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    for (;;) {
      const message = JSON.parse((await lines.next()).value);
      if (message.id === id) return message.result;
    }
  };
  const [client, version] = name.split("/");
  const clientInfo = { name: client, version };
  await request(0, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  let id = 0;
  return async (tool, parameters) => {
    const result = await request(++id, "tools/call", { name: tool, arguments: parameters });
    if (result.isError) throw new Error(result.content[0].text);
  };
}
