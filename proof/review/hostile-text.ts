// Script in file names, contents, agents' names and notes: it is shown, and nothing of it runs.
import type { Browser } from "playwright-core";
import type { Trial } from "../suite.ts";
import { Fixture, same } from "./fixture.ts";

const payloads = [
  "<img src=x onerror=window.hit=1>",
  "<script>window.hit=1</script>",
  '"><svg onload=window.hit=1>',
  "javascript:window.hit=1",
  "{{constructor.constructor('window.hit=1')()}}",
  "</td></table><iframe srcdoc='<script>parent.hit=1</script>'>",
];

export async function tryHostileText(browser: Browser, { tally }: Trial): Promise<void> {
  await using fixture = new Fixture(browser);
  const agent = await fixture.agent("<img src=x onerror=window.hit=1>");
  const { url } = await fixture.serve();
  const page = await fixture.open(url);
  for (const [i, payload] of payloads.entries()) {
    const name = `${payload.replaceAll("/", "∕")}.html`;
    await agent.do("write_file", { path: name, content: `first\n${payload}\n` });
    await agent.do("edit_file", { path: name, edits: [{ old: "first", new: `${payload} ${i}` }] });
  }
  const check = async (where: string) => {
    same(await page.evaluate('"hit" in window'), false, `a script ran in ${where}`);
    same(
      await page.locator("main img, main iframe, main script").count(),
      0,
      `elements of the text in ${where}`,
    );
  };
  await tally.attempt("script in a list", async () => {
    await page.getByRole("treeitem").first().click();
    await page.keyboard.press("ArrowRight");
    await page
      .getByRole("treeitem", { name: /<script>/ })
      .first()
      .waitFor();
    await check("the list");
  });
  await tally.attempt("script in a difference", async () => {
    await page
      .locator(".code", { hasText: payloads[1] ?? "" })
      .first()
      .waitFor();
    await check("the difference, unified");
    await page.keyboard.press("v");
    await page
      .locator(".code", { hasText: payloads[0] ?? "" })
      .first()
      .waitFor();
    await check("the difference, side by side");
  });
  await tally.attempt("script in places found", async () => {
    await page.getByRole("searchbox").fill("window.hit");
    await page
      .getByRole("option", { name: /onerror/ })
      .first()
      .waitFor();
    await check("places found");
  });
  await tally.attempt("script in the address", async () => {
    await page.goto(
      `${page.url().replace(/#.*/, "")}#changes/change/${encodeURIComponent(payloads[0] ?? "")}`,
    );
    await page.getByRole("alert").waitFor();
    await check("an error");
  });
  await tally.attempt("nothing is refused by the policy of the page, because nothing is tried", () =>
    same(fixture.offences.join("; "), "", "offences"),
  );
}
