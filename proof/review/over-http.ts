// The page at /review of an HTTP server: signed in with a token, limited to what that token may see.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { HttpServer, messageIn } from "../client/http-client.ts";
import { program } from "../places.ts";
import type { Trial } from "../suite.ts";
import { findNothing } from "./accessibility.ts";
import { becomes, Fixture, same } from "./fixture.ts";

const before = "one\ntwo\nthree\n";

export async function tryOverHttp(browser: Browser, { tally }: Trial): Promise<void> {
  await using fixture = new Fixture(browser, { "mine/a.txt": before, "theirs/b.txt": before });
  const tokens = join(fixture.base, "tokens.json");
  const token = (...args: string[]) => {
    const line = [program, "token", "add", ...args, "--tokens", tokens];
    const { stdout, stderr, status } = spawnSync(process.execPath, line, { encoding: "utf8" });
    if (status !== 0) throw new Error(stderr);
    return stdout.trim();
  };
  const [agent, reviewer] = [
    token("agent"),
    token("reviewer", "--write", join(fixture.root, "mine"), "--effects", "reviews"),
  ];
  const server = new HttpServer(fixture.root, fixture.state, ["--tokens", tokens, "--dialect", "polyfs"]);
  try {
    const edit = (path: string) => editOver(server, { address: "/mcp", token: agent, path });
    const page = await fixture.open(`${await server.url}/review/`);
    await tally.attempt("over http: without a token there is a form, and nothing else", async () => {
      await findNothing(page);
      await page.getByLabel(/Token/).fill(agent);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("alert").waitFor();
    });
    await tally.attempt("over http: a change appears, limited to what the token may see", async () => {
      await page.getByLabel(/Token/).fill(reviewer);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByText("No changes yet").waitFor();
      await edit("theirs/b.txt");
      await edit("mine/a.txt");
      await page.getByRole("treeitem", { name: /a\.txt/ }).waitFor();
      same(await page.getByText("b.txt").count(), 0, "what the token may not see");
    });
    await tally.attempt("over http: it is undone, with the right bytes", async () => {
      await page.getByRole("treeitem").first().click();
      await page.locator(".hunk").getByRole("button", { name: /^Undo/ }).click();
      await becomes(() => fixture.read("mine/a.txt"), before, "mine/a.txt");
      same(fixture.read("theirs/b.txt"), before.replace("two", "TWO"), "theirs/b.txt");
    });
    await tally.attempt("over http: nothing that the page must not do", () =>
      same(fixture.offences.join("; "), "", "offences"),
    );
  } finally {
    await server.close();
  }
}

/** An agent's edit of a file that holds the line `two`. */
export async function editOver(
  server: HttpServer,
  { address, token, path }: { readonly address: string; readonly token: string; readonly path: string },
): Promise<void> {
  const edits = [{ old: "two", new: "TWO" }];
  const params = { name: "edit_file", arguments: { path, edits }, _meta: envelope };
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  const { body, status } = await server.post(address, JSON.stringify(message), {
    ...headers,
    authorization: `Bearer ${token}`,
    "mcp-name": "edit_file",
  });
  if (messageIn(body)?.result?.isError !== undefined || status !== 200) throw new Error(body);
}

const headers = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
};

const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "remote", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
