// axe-core on every view, light and dark: no serious finding.
import axe, { type AxeResults } from "axe-core";
import type { Browser, Page } from "playwright-core";
import type { Trial } from "../suite.ts";
import { Fixture } from "./fixture.ts";

const source = `// A comment.\nexport function greet(name: string): string {\n  return \`Hello \${name}\`; // 1\n}\n`;

export async function tryAccessibility(browser: Browser, { tally }: Trial): Promise<void> {
  await using fixture = new Fixture(browser, { "src/greet.ts": source });
  const agent = await fixture.agent("axe");
  await agent.do("edit_file", {
    path: "src/greet.ts",
    edits: [{ old: "Hello", new: "Good morning" }],
  });
  await agent.do("write_file", { path: "src/other.ts", content: source });
  await agent.try("read_file", { path: "missing.txt" });
  for (const colorScheme of ["light", "dark"] as const) {
    const page = await fixture.open((await fixture.serve()).url, { colorScheme });
    const check = (where: string, ready: () => Promise<unknown>) =>
      tally.attempt(`axe: ${where}, ${colorScheme}`, async () => {
        await ready();
        await findNothing(page);
      });
    await check("changes", () => page.getByRole("treeitem").first().waitFor());
    await check("a task, unified", async () => {
      await page.getByRole("treeitem").first().click();
      await page.keyboard.press("ArrowRight");
      await page.locator(".hunk").first().waitFor();
    });
    await check("a task, side by side", async () => {
      await page.keyboard.press("v");
      await page.locator(".side-by-side, .unified").first().waitFor();
    });
    await check("filters and places found", async () => {
      await page.getByRole("button", { name: "Filters" }).click();
      await page.getByRole("searchbox").fill("Hello");
      await page.locator("[role=option]").first().waitFor();
    });
    await check("an undo's preview", async () => {
      await page.getByRole("searchbox").fill("");
      await page.getByRole("treeitem").first().click();
      await page.getByRole("button", { name: "Undo task" }).click();
      await page.getByRole("dialog").waitFor();
    });
    await check("help", async () => {
      await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
      await page.getByRole("button", { name: "Keys and help" }).click();
      await page.getByRole("dialog", { name: "Keys" }).waitFor();
    });
    await page.keyboard.press("Escape");
    for (const [key, title] of [
      ["1", "Now"],
      ["3", "Questions"],
      ["4", "Notes"],
    ] as const) {
      await check(title, async () => {
        await page.keyboard.press(key);
        await page.getByRole("heading", { name: title, exact: true }).waitFor();
      });
    }
  }
}

/** Through the browser's own tools, which the page's policy does not stop. */
export async function findNothing(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(document, { resultTypes: ["violations"] })`,
  );
  const found = violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .slice(0, 3)
          .map(({ target }) => target.join(" "))
          .join(", ")}`,
    );
  if (found.length > 0) throw new Error(found.join("; "));
}
