// The page by keyboard alone, at a phone's width, and without its server.
import type { Browser } from "playwright-core";
import type { Trial } from "../suite.ts";
import { becomes, Fixture, same, until } from "./fixture.ts";

const before = Array.from({ length: 40 }, (_, i) => `line ${i + 1}\n`).join("");

export async function tryKeys(browser: Browser, { tally }: Trial): Promise<void> {
  await using fixture = new Fixture(browser, {
    "a.txt": before,
    "a-directory-with-a-long-name/b.txt": before,
  });
  const agent = await fixture.agent("typist");
  const edits = [
    { old: "line 2\n", new: "line two\n" },
    { old: "line 30\n", new: "line thirty\n" },
  ];
  await agent.do("edit_file", { path: "a.txt", edits });
  const { url, stop } = await fixture.serve();
  const page = await fixture.open(url);

  await tally.attempt("keys: from the list to a hunk, and undo it", async () => {
    await page.getByRole("treeitem").first().waitFor();
    await page.keyboard.press("j"); // into the list
    await page.keyboard.press("j"); // its first row
    await page.locator(".hunk").nth(1).waitFor();
    await page.keyboard.press("Enter"); // into the difference
    for (let i = 0; i < 4; i++) await page.keyboard.press("j"); // head, file, first and second hunk
    await page.locator(".hunk:focus", { hasText: "line thirty" }).waitFor();
    await page.keyboard.press("u");
    await becomes(() => fixture.read("a.txt"), before.replace("line 2\n", "line two\n"), "a.txt");
    await page.getByText(/^Undid/).waitFor();
    await page.keyboard.press("z");
    await becomes(
      () => fixture.read("a.txt"),
      before.replace("line 2\n", "line two\n").replace("line 30\n", "line thirty\n"),
      "a.txt after the undo of the undo",
    );
  });

  await tally.attempt("keys: help opens, and gives the focus back", async () => {
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    same(await page.evaluate('document.activeElement?.getAttribute("role")'), "tree", "focus");
  });

  await tally.attempt("keys: 1 to 4 choose the view", async () => {
    for (const [i, title] of ["Now", "Changes", "Questions", "Notes"].entries()) {
      await page.keyboard.press(String(i + 1));
      await until(async () => (await page.title()).startsWith(title), `the view ${title}`);
    }
  });

  await agent.do("edit_file", { path: "a-directory-with-a-long-name/b.txt", edits });
  const phone = await fixture.open((await fixture.serve()).url, {
    viewport: { width: 360, height: 740 },
    hasTouch: true,
  });
  const fits = async (where: string) => {
    const width = await phone.evaluate<number>("document.documentElement.scrollWidth");
    if (width > 360) throw new Error(`${where} is ${width} wide`);
  };
  await tally.attempt("phone: list, then difference, then back", async () => {
    await phone.getByRole("treeitem").first().tap();
    await phone.locator(".hunk").first().waitFor();
    await fits("the difference");
    await phone.getByRole("button", { name: "Back to the list" }).tap();
    await phone.getByRole("treeitem").first().waitFor();
    await fits("the list");
  });
  await tally.attempt("phone: every view fits", async () => {
    for (const view of ["Now", "Questions", "Notes"]) {
      await phone.getByRole("link", { name: view }).tap();
      await phone.getByRole("heading", { name: view, exact: true }).waitFor();
      await fits(view);
    }
  });

  await tally.attempt("disconnected: the page says so, and keeps what it shows", async () => {
    await page.keyboard.press("2");
    await page.getByRole("treeitem").first().waitFor();
    await stop();
    await page.getByText("The connection is lost").waitFor();
    await page.getByRole("treeitem").first().waitFor();
  });
}
