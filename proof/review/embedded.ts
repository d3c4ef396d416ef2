// The page inside a client: a small host in Chromium that implements the client's side of MCP Apps, in front of a real
// server. The page is in a sandboxed frame without an origin, under the policy that the extension prescribes.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { StdioClient } from "../client/stdio-client.ts";
import { repository } from "../places.ts";
import type { Trial } from "../suite.ts";
import { findNothing } from "./accessibility.ts";
import { becomes, Fixture, same } from "./fixture.ts";

const before = Array.from({ length: 40 }, (_, i) => `line ${i + 1}\n`).join("");
const policy =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src 'none'";

export async function tryEmbedded(browser: Browser, { tally }: Trial): Promise<void> {
  await using fixture = new Fixture(browser, { "a.txt": before, "b <i>.txt": before });
  const { root, state } = fixture;
  const client = await StdioClient.start({ dialect: "polyfs", root, state, client: "host" });
  const agent = fixture.connected(client);
  const edits = [
    { old: "line 2\n", new: "line two\n" },
    { old: "line 30\n", new: "line thirty\n" },
  ];
  await agent.do("edit_file", { path: "a.txt", edits });
  await agent.do("edit_file", { path: "b <i>.txt", edits });
  const { result } = await client.request("resources/read", { uri: "ui://polyfs/review" });
  const [content] = (result?.contents ?? []) as { text: string }[];
  const page = await browser.newPage({ viewport: { width: 720, height: 700 } });
  try {
    const seen: string[] = [];
    await page.exposeFunction("ask", async (method: string, params: unknown) => {
      seen.push(method);
      return await client.request(method, params);
    });
    await page.setContent(`<!doctype html><html lang="en"><title>host</title><body></body></html>`);
    await page.evaluate(readFileSync(join(repository, "proof/review/host-program.mjs"), "utf8"));
    const html = JSON.stringify(withPolicy(content?.text ?? ""));
    await page.evaluate(`show(${html}, "dark")`);
    const frame = page.frameLocator("iframe");

    await tally.attempt("app: shakes hands, and lists changes through the client", async () => {
      await frame.getByRole("option", { name: /b <i>\.txt/ }).waitFor();
      await frame.getByRole("option", { name: /a\.txt/ }).waitFor();
      same(seen.includes("tools/call"), true, "a call through the client");
      same(await page.evaluate('told.includes("ui/notifications/initialized")'), true, "initialized");
    });
    await tally.attempt("app: takes the client's colours", async () => {
      const root = frame.locator("html");
      same(await root.getAttribute("data-theme"), "dark", "theme");
      await page.evaluate(`send("ui/notifications/host-context-changed", { theme: "light" })`);
      await frame.locator("html[data-theme=light]").waitFor();
    });
    await tally.attempt("app: tells its size", async () => {
      const height = await page.locator("iframe").getAttribute("height");
      if (!(Number(height) >= 300)) throw new Error(`the frame is ${height} high`);
    });
    await tally.attempt("app: a hunk is undone through the client", async () => {
      await frame.getByRole("option", { name: /a\.txt/ }).click();
      await frame.locator(".hunk").nth(1).waitFor();
      await frame.locator(".hunk", { hasText: "line two" }).getByRole("button", { name: /^Undo/ }).click();
      await becomes(() => fixture.read("a.txt"), before.replace("line 30\n", "line thirty\n"), "a.txt");
    });
    await tally.attempt("app: a change by the model appears when its tool has answered", async () => {
      await frame.getByRole("button", { name: "Back to the list" }).click();
      await agent.do("write_file", { path: "later.txt", content: "later\n" });
      await page.evaluate(`send("ui/notifications/tool-result", { content: [] })`);
      await frame.getByRole("option", { name: /later\.txt/ }).waitFor();
    });
    await tally.attempt("app: axe", () => findNothing(page));
    await tally.attempt("app: answers the end", async () => {
      const answer = await page.evaluate(`request("ui/resource-teardown", {})`);
      same(JSON.stringify(answer), "{}", "the answer");
    });
  } finally {
    await page.close();
  }
}

function withPolicy(html: string): string {
  return html.replace("<head>", `<head><meta http-equiv="Content-Security-Policy" content="${policy}">`);
}
