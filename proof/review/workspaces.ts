// The page at /review/w/NAME/: for a token that is bound to a workspace, while agents work in that one and in another.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { HttpServer } from "../client/http-client.ts";
import { program } from "../places.ts";
import type { Trial } from "../suite.ts";
import { becomes, Fixture, same } from "./fixture.ts";
import { editOver } from "./over-http.ts";

const before = "one\ntwo\nthree\n";

export async function tryWorkspaces(browser: Browser, { tally }: Trial): Promise<void> {
  await using fixture = new Fixture(browser, { "mine/a.txt": before, "theirs/b.txt": before });
  const [tokens, workspaces] = [join(fixture.base, "tokens.json"), join(fixture.base, "workspaces")];
  const run = (...args: string[]) => {
    const env = { ...process.env, POLYFS_STATE_DIR: fixture.state };
    const line = [program, ...args, "--workspaces", workspaces];
    const { stdout, stderr, status } = spawnSync(process.execPath, line, { encoding: "utf8", env });
    if (status !== 0) throw new Error(stderr);
    return stdout.trim();
  };
  for (const name of ["mine", "theirs"]) run("workspace", "adopt", name, join(fixture.root, name));
  const token = (...args: string[]) => run("token", "add", ...args, "--tokens", tokens);
  const agent = token("agent");
  const reviewer = token("reviewer", "--workspace", "mine", "--effects", "reviews");
  const given = ["--tokens", tokens, "--dialect", "polyfs", "--workspaces"];
  const server = new HttpServer(workspaces, fixture.state, given);
  try {
    const page = await fixture.open(`${await server.url}/review/w/mine/`);
    await tally.attempt(
      "workspaces: a change of the token's workspace appears, and none of another",
      async () => {
        await page.getByLabel(/Token/).fill(reviewer);
        await page.getByRole("button", { name: "Sign in" }).click();
        await page.getByText("No changes yet").waitFor();
        await editOver(server, { address: "/mcp/w/theirs", token: agent, path: "b.txt" });
        await editOver(server, { address: "/mcp/w/mine", token: agent, path: "a.txt" });
        await page.getByRole("treeitem", { name: /a\.txt/ }).waitFor();
        same(await page.getByText("b.txt").count(), 0, "what the token may not see");
      },
    );
    await tally.attempt("workspaces: it is undone, with the right bytes", async () => {
      await page.getByRole("treeitem").first().click();
      await page.locator(".hunk").getByRole("button", { name: /^Undo/ }).click();
      await becomes(() => fixture.read("mine/a.txt"), before, "mine/a.txt");
      same(fixture.read("theirs/b.txt"), before.replace("two", "TWO"), "theirs/b.txt");
    });
    await tally.attempt("workspaces: nothing that the page must not do", () =>
      same(fixture.offences.join("; "), "", "offences"),
    );
  } finally {
    await server.close();
  }
}
