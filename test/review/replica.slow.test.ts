// Undo from the review page in a directory that is a replica of a shared workspace: it reaches the store, or is refused.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { modern } from "../http/wire.ts";
import { Fixture, Page } from "./fixture.ts";

const address = /http:\/\/127[^/\s]+/;
const signIn = /http:[^\s"]+\/review\/\?token=[\w-]+/;

describe("undo from the page in a replica", () => {
  it("by polyfs review is refused while a server runs or the store is not named, and published otherwise", async () => {
    const fixture = new Fixture();
    const store = join(fixture.base, "store");
    fixture.write("f.txt", "one\n");
    const agent = await fixture.agent("alpha", ["--store", store, fixture.root]);
    const change = await agent.change("write_file", { path: "f.txt", content: "two\n" });
    const page = await fixture.page("--store", store, fixture.root);
    const undo = async (from: Page) => await from.post("api/undo", { change });
    await expect.poll(async () => (await undo(page)).status).toBe(409);
    expect((await undo(page)).json.message).toContain("a running server keeps up to date");
    expect(fixture.read("f.txt")).toBe("two\n");
    await agent.client.close();
    const without = await undo(await fixture.page(fixture.root));
    expect(without).toMatchObject({ status: 409, json: { error: "shared_workspace" } });
    expect(without.json.message).toMatch(/running server|--store/);
    await expect.poll(async () => (await undo(page)).json.done, { timeout: 20_000 }).toBe(true);
    expect(fixture.read("f.txt")).toBe("one\n");
    expect(await elsewhere(fixture, store)).toBe("one\n");
  });

  it("at /review of a server is published", async () => {
    const fixture = new Fixture();
    const store = join(fixture.base, "store");
    fixture.write("f.txt", "one\n");
    const url = await fixture.start(["--http", "0", "--store", store, fixture.root], signIn);
    const page = await Page.enter(url);
    const params = { name: "write_file", arguments: { path: "f.txt", content: "two\n" } };
    await modern(url.replace(/\/review.*/, "/mcp"), "tools/call", params);
    const changes = async () => (await page.get("api/changes")).json.changes;
    await expect.poll(async () => (await changes()).length, { timeout: 20_000 }).toBe(1);
    const [{ id }] = await changes();
    expect((await page.post("api/undo", { change: id })).json.done).toBe(true);
    expect(await elsewhere(fixture, store)).toBe("one\n");
  });
});

/** What a new replica of the workspace has in f.txt. */
async function elsewhere(fixture: Fixture, store: string): Promise<string> {
  const [root, state] = [join(fixture.base, "other"), join(fixture.base, "other-state")];
  mkdirSync(root);
  await fixture.start(["--http", "0", "--store", store, "--state-dir", state, root], address);
  return readFileSync(join(root, "f.txt"), "utf8");
}
