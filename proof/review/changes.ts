// Changes on the page: they appear while it is open, from every server, and hunks, files and tasks of them are undone
// with the right bytes on the disk.
import type { Browser } from "playwright-core";
import { HttpClient, HttpServer } from "../client/http-client.ts";
import type { Trial } from "../suite.ts";
import { Agent, becomes, Fixture, same, until } from "./fixture.ts";

const lines = Array.from({ length: 40 }, (_, i) => `const line${i + 1} = ${i + 1};`);
const before = `${lines.join("\n")}\n`;
const first = before.replace("line2 = 2;", "line2 = 200;");
const both = first.replace("line30 = 30;", "line30 = 300;");
const edits = [
  { old: "line2 = 2;", new: "line2 = 200;" },
  { old: "line30 = 30;", new: "line30 = 300;" },
];

export async function tryChanges(browser: Browser, { tally }: Trial): Promise<void> {
  await using fixture = new Fixture(browser, { "src/a.ts": before, "src/b.ts": before, "src/c.ts": before });
  const agent = await fixture.agent("first-agent");
  const { url } = await fixture.serve();
  const page = await fixture.open(url);

  await tally.attempt("empty: an empty history says so", () => page.getByText("No changes yet").waitFor());

  await tally.attempt("stdio: a change appears while the page is open", async () => {
    await agent.do("edit_file", { path: "src/a.ts", edits });
    await page.getByRole("treeitem", { name: /first-agent/ }).waitFor();
  });

  await tally.attempt("http: a change of an HTTP server appears too", async () => {
    const server = new HttpServer(fixture.root, fixture.state);
    try {
      const other = new Agent(await HttpClient.open(server, "polyfs"));
      await other.do("write_file", { path: "from-http.txt", content: "hello\n" });
      await page.getByRole("treeitem", { name: /from-http\.txt/ }).waitFor();
    } finally {
      await server.close();
    }
  });

  await tally.attempt("hunk: one of two is undone, and nothing else", async () => {
    await page.getByRole("treeitem", { name: /first-agent/ }).click();
    const hunks = page.locator(".hunk");
    await hunks.nth(1).waitFor();
    same(await hunks.count(), 2, "hunks");
    await hunks.first().getByRole("button", { name: /^Undo/ }).click();
    await becomes(() => fixture.read("src/a.ts"), both.replace("line2 = 200;", "line2 = 2;"), "src/a.ts");
    await page.getByText(/^Undid/).waitFor();
  });

  await tally.attempt("redo: the undo is undone", async () => {
    await page.getByRole("button", { name: "Take it back" }).click();
    await becomes(() => fixture.read("src/a.ts"), both, "src/a.ts");
  });

  await tally.attempt("file: one file of two is undone, and later edits elsewhere stay", async () => {
    await agent.do("edit_file", { path: "src/b.ts", edits });
    fixture.write("src/b.ts", fixture.read("src/b.ts").replace("line15 = 15;", "line15 = 1500;"));
    await page.getByRole("button", { name: "Undo src/b.ts", exact: true }).click();
    await becomes(
      () => fixture.read("src/b.ts"),
      before.replace("line15 = 15;", "line15 = 1500;"),
      "src/b.ts",
    );
    same(fixture.read("src/a.ts"), both, "src/a.ts");
  });

  await tally.attempt("task: it is undone after a preview", async () => {
    const other = await fixture.agent("second-agent");
    await other.do("write_file", { path: "new/one.txt", content: "one\n" });
    await other.do("edit_file", { path: "src/c.ts", edits });
    await page.getByRole("treeitem", { name: /second-agent/ }).click();
    await page.locator(".detail h1", { hasText: "second-agent" }).waitFor();
    await page.getByRole("button", { name: "Undo task" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("This changes 2 files").waitFor();
    same(fixture.read("src/c.ts"), both, "src/c.ts during the preview");
    await dialog.getByRole("button", { name: "Undo the task" }).click();
    await becomes(() => fixture.read("src/c.ts"), before, "src/c.ts");
  });

  await tally.attempt("conflict: later edits are shown, and nothing is lost", async () => {
    const other = await fixture.agent("third-agent");
    await other.do("edit_file", { path: "src/c.ts", edits: [{ old: "line5 = 5;", new: "line5 = 50;" }] });
    fixture.write("src/c.ts", fixture.read("src/c.ts").replace("line5 = 50;", "line5 = 51; // mine"));
    const now = fixture.read("src/c.ts");
    await page.getByRole("treeitem", { name: /third-agent/ }).click();
    await page.locator(".detail h1", { hasText: "third-agent" }).waitFor();
    await page.getByRole("button", { name: "Undo src/c.ts", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog
      .getByText(/conflict/)
      .first()
      .waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    same(fixture.read("src/c.ts"), now, "src/c.ts");
  });

  await tally.attempt("to now: the difference from the start of a task to the disk", async () => {
    await page.getByRole("button", { name: "To now" }).click();
    await page.locator(".code", { hasText: "// mine" }).first().waitFor();
    await page.getByRole("button", { name: "This task" }).click();
  });

  await tally.attempt("keep: a mark is there for every page", async () => {
    await page.getByRole("button", { name: "Keep", exact: true }).first().click();
    await page.getByRole("treeitem", { name: /third-agent.*kept/ }).waitFor();
  });

  await tally.attempt("search: text of the past leads to its line", async () => {
    await page.getByRole("searchbox").fill("line30 = 300");
    const places = page.getByRole("option", { name: /src\/a\.ts:30/ });
    await places.first().waitFor();
    await places.last().click(); // the oldest: the change that wrote it
    await page.locator(".marked", { hasText: "line30 = 300" }).first().waitFor();
    await page.getByRole("searchbox").fill("");
  });

  await tally.attempt("filter: only one agent's tasks", async () => {
    await page.getByRole("button", { name: "Filters" }).click();
    await page.getByLabel("Agent").selectOption({ index: 1 });
    const chosen = await page.getByLabel("Agent").inputValue();
    await until(async () => {
      const shown = await page.locator("[role=treeitem] strong").allTextContents();
      return shown.length > 0 && shown.every(client => client === chosen);
    }, `only tasks of ${chosen}`);
    await page.getByRole("button", { name: "Clear filters" }).click();
  });

  await tally.attempt("quiet: the page does nothing that it must not", () =>
    same(fixture.offences.join("; "), "", "offences"),
  );
}
