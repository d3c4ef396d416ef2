// While agents work: calls as they happen, questions answered on the page, notes that arrive at the agent.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import type { Trial } from "../suite.ts";
import { findNothing } from "./accessibility.ts";
import { becomes, Fixture, same } from "./fixture.ts";

const hostile = "<img src=x onerror=window.hit=1>";

export async function tryLive(browser: Browser, { tally }: Trial): Promise<void> {
  await using fixture = new Fixture(browser, { "migrations/1.sql": "one\n", "notes.txt": "first\nsecond\n" });
  const policy = join(fixture.base, "policy.json");
  const rule = { name: "migrations", paths: ["migrations/**"], ask: ["write"] };
  writeFileSync(policy, JSON.stringify({ rules: [rule] }));
  const agent = await fixture.agent("asker", ["--policy", policy]);
  const page = await fixture.open((await fixture.serve()).url);
  const see = (view: string) => page.getByRole("link", { name: view, exact: true }).click();
  const write = (content: string) => agent.try("write_file", { path: "migrations/1.sql", content });

  await tally.attempt("now: calls are listed with agent, tool, path and outcome", async () => {
    await see("Now");
    await agent.try("read_file", { path: "no/such/file" });
    await page.getByRole("option", { name: /asker.*read_file.*no\/such\/file.*failed/ }).waitFor();
    await agent.try("read_file", { path: hostile });
    await page.getByRole("option", { name: /onerror/ }).waitFor();
    same(await page.evaluate('"hit" in window'), false, "a script ran");
  });

  await tally.attempt("question: allowed once, and the call goes on", async () => {
    const call = write("uno\n");
    await see("Questions");
    const card = page.getByRole("article");
    await card.getByText("asker").waitFor();
    await card.locator(".code", { hasText: "uno" }).waitFor();
    await card.getByText("rule migrations").waitFor();
    await findNothing(page);
    await card.getByRole("button", { name: "Allow once" }).click();
    same((await call).failed, false, "the call failed");
    await becomes(() => fixture.read("migrations/1.sql"), "uno\n", "migrations/1.sql");
    await page.getByText("No questions").waitFor();
  });

  await tally.attempt("question: denied with a sentence, which the agent gets", async () => {
    const call = write("eins\n");
    await page.getByRole("button", { name: "Deny…" }).click();
    await page.getByLabel("Message to the agent").fill(`Frozen until Monday ${hostile}`);
    await page.keyboard.press("Enter");
    const { failed, text } = await call;
    same(failed && text.includes("Frozen until Monday"), true, `the answer: ${text}`);
    same(fixture.read("migrations/1.sql"), "uno\n", "migrations/1.sql");
  });

  await tally.attempt("question: allowed for the task by a key", async () => {
    const call = write("dos\n");
    await page.getByRole("article").filter({ hasText: "dos" }).waitFor(); // and not the card of the call before
    await page.keyboard.press("t");
    same((await call).failed, false, "the call failed");
    same((await write("tres\n")).failed, false, "the next call failed");
    same(fixture.read("migrations/1.sql"), "tres\n", "migrations/1.sql");
  });

  await tally.attempt("note: on a line, and the agent gets it", async () => {
    await agent.do("edit_file", { path: "notes.txt", edits: [{ old: "second", new: "the second" }] });
    await see("Changes");
    await page.getByRole("treeitem").first().click();
    const hunk = page.locator(".hunk", { hasText: "the second" });
    await hunk
      .getByRole("button", { name: /^Note on/ })
      .first()
      .click();
    await page.getByLabel(/^Note to the agent/).fill(`Say it twice. ${hostile}`);
    await page.getByRole("button", { name: "Send note" }).click();
    await page.locator(".note", { hasText: "Say it twice." }).waitFor();
    const told = await agent.do("read_file", { path: "notes.txt" });
    if (!/note/i.test(told)) throw new Error(`the next answer does not tell of the note: ${told}`);
    const listed = await agent.do("list_changes", {});
    same(listed.includes("Say it twice."), true, `list_changes: ${listed}`);
    await page.locator(".note", { hasText: "the agent has read it" }).waitFor();
    same(await page.evaluate('"hit" in window'), false, "a script ran");
  });

  await tally.attempt("note: listed, and removed", async () => {
    await see("Notes");
    await findNothing(page);
    await page.getByRole("button", { name: /^Remove the note/ }).click();
    await page.getByText("No notes yet").waitFor();
  });

  await tally.attempt("live: nothing that the page must not do", () =>
    same(fixture.offences.join("; "), "", "offences"),
  );
}
