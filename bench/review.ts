// The review page in a real Chromium: how soon a change is on it, how large it is, how soon it is there with a long
// history, and what it costs the processes that serve. `npm run bench:review -- [changes] [rounds]`
import { readFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { repository } from "../proof/places.ts";
import { findChromium, launch } from "../proof/review/chromium.ts";
import { type Agent, Fixture } from "../proof/review/fixture.ts";
import { processorTime, residentOf } from "./processor-time.ts";

const changes = Number(process.argv[2] ?? 10_000);
const rounds = Number(process.argv[3] ?? 100);
const agents = 10;
const callCount = 1_000;
const collector = join(repository, "bench/collect-garbage.mjs");

const executable = findChromium();
if (executable === undefined) throw new Error("no Chromium on this machine; name one in CHROMIUM");
const browser = await launch(executable);
try {
  say(`${cpus().length} processors, load ${loadavg()[0]?.toFixed(1)}, Node ${process.version}`);
  say(`page: ${pageBytes()} bytes compressed`);
  await withFewChanges();
  await withManyChanges();
} finally {
  await browser.close();
}

async function withFewChanges(): Promise<void> {
  await using fixture = new Fixture(browser);
  const agent = await fixture.agent("bench");
  await agent.do("write_file", { path: "first.txt", content: "first\n" });
  const served = await fixture.serve([], ["--import", pathToFileURL(collector).href]);
  const page = await fixture.open(served.url);
  await page.getByRole("button", { name: "Changes", exact: true }).click();
  await page.locator("[role=option]").first().waitFor();
  await costOfPage(agent, served.pid, page);
  await watch(page);
  const times: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const name = `change-${i}.txt`;
    await agent.do("write_file", { path: name, content: `${i}\n` });
    const answered = Date.now();
    times.push((await seen(page, name)) - answered);
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  say(`change on the page, after the agent has its answer: ${spread(times)}`);
}

async function withManyChanges(): Promise<void> {
  await using fixture = new Fixture(browser);
  for (let i = 0; i < agents; i++) {
    const agent = await fixture.agent(`bench-${i}`);
    for (let j = 0; j < changes / agents; j++)
      await agent.do("write_file", { path: `d${i}/f${j % 500}.txt`, content: `${j}\n` });
  }
  const served = await fixture.serve([], ["--import", pathToFileURL(collector).href]);
  const first = await fixture.open(served.url);
  const address = first.url();
  await first.locator("[role=treeitem]").first().waitFor();
  const [paints, rows]: [number[], number[]] = [[], []];
  for (let i = 0; i < 10; i++) {
    await first.goto("about:blank");
    await first.goto(address);
    await first.locator("[role=treeitem]").first().waitFor();
    const shown = await first.evaluate<{ paint: number; rows: number }>(
      `({ paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
          rows: performance.getEntriesByName("first-rows")[0]?.startTime ?? performance.now() })`,
    );
    paints.push(shown.paint);
    rows.push(shown.rows);
  }
  say(`first paint with ${changes} changes: ${spread(paints)}; the list is there: at most ${spread(rows)}`);
  await first.getByRole("button", { name: "Changes", exact: true }).click();
  await first.locator("[role=option]").first().waitFor();
  say(`frames while ${changes} changes are scrolled through: ${spread(await scrolled(first))}`);
  await settle();
  const open = await heldBy(served.pid);
  await first.goto("about:blank");
  await settle();
  const closed = await heldBy(served.pid);
  say(
    `polyfs review with ${changes} changes, garbage collected: ${closed.toFixed(1)} MB without a page, ${open.toFixed(1)} MB with one open`,
  );
}

/**
 * What an open page costs the servers, in turns with and without one: processor time of the agent's server for each
 * call, which no other program of the machine changes, and the memory of both.
 */
async function costOfPage(agent: Agent, server: number, page: Page): Promise<void> {
  const address = page.url();
  await agent.do("write_file", { path: "4k.txt", content: "x".repeat(4096) });
  await calls(agent); // warm
  const turns = { without: [] as number[], open: [] as number[] };
  const memory = { without: [] as number[], open: [] as number[] };
  for (let turn = 0; turn < 8; turn++) {
    const which = turn % 2 === 0 ? "without" : "open";
    await page.goto(which === "open" ? address : "about:blank");
    if (which === "open") await page.locator("[role=treeitem]").first().waitFor();
    await settle();
    const before = processorTime(agent.pid);
    await calls(agent);
    turns[which].push((processorTime(agent.pid) - before) / callCount);
    memory[which].push(await heldBy(server));
  }
  const [without, open] = [at(turns.without, 0.5), at(turns.open, 0.5)];
  say(
    `call (read 4 KB), processor time of its server: ${without.toFixed(3)} ms without a page, ${open.toFixed(3)} ms with one open (${(open / without).toFixed(2)} x)`,
  );
  const [closed, shown] = [at(memory.without, 0.5), at(memory.open, 0.5)];
  say(
    `polyfs review, garbage collected: ${closed.toFixed(1)} MB without a page, ${shown.toFixed(1)} MB with one open (${(shown - closed).toFixed(1)} MB more)`,
  );
}

/** Notes when a file's name first is in the page. */
async function watch(page: Page): Promise<void> {
  await page.evaluate(`(() => {
    window.seen = new Map();
    new MutationObserver(() => {
      for (const row of document.querySelectorAll("[role=option] [title]"))
        if (!seen.has(row.title)) { seen.set(row.title, 0); requestAnimationFrame(() => seen.set(row.title, Date.now())); }
    }).observe(document.body, { childList: true, subtree: true, characterData: true, attributes: true });
  })()`);
}

async function seen(page: Page, name: string): Promise<number> {
  for (;;) {
    const time = await page.evaluate<number | undefined>(
      `[...seen].find(([title, time]) => time > 0 && title.endsWith(${JSON.stringify(name)}))?.[1]`,
    );
    if (time !== undefined) return time;
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}

/** How long each frame took while the list was scrolled to its end. */
async function scrolled(page: Page): Promise<number[]> {
  return await page.evaluate<number[]>(`new Promise(resolve => {
    const list = document.querySelector(".vlist");
    const frames = [];
    let last = performance.now();
    const step = () => {
      const now = performance.now();
      frames.push(now - last);
      last = now;
      if (frames.length > 200) return resolve(frames);
      list.scrollTop += 2000;
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  })`);
}

/** Reads, one after the other. */
async function calls(agent: Agent): Promise<void> {
  for (let i = 0; i < callCount; i++) await agent.do("read_file", { path: "4k.txt" });
}

/** Resident memory after a collection of garbage, in megabytes. */
async function heldBy(pid: number): Promise<number> {
  process.kill(pid, "SIGUSR2");
  await settle();
  return residentOf(pid);
}

function pageBytes(): number {
  const files = ["index.html", "app.js", "app.css"].map(name => join(repository, "dist/review", name));
  return files.reduce((sum, file) => sum + gzipSync(readFileSync(file)).length, 0);
}

function spread(times: readonly number[]): string {
  return `median ${at(times, 0.5).toFixed(0)} ms, 95th percentile ${at(times, 0.95).toFixed(0)} ms`;
}

function at(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

async function settle(): Promise<void> {
  await new Promise(resolve => setTimeout(resolve, 1_500));
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
