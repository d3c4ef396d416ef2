// `/readyz` of a server with a shared store.
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tree } from "./fixture.ts";
import { startOverHttp as start } from "./started-program.ts";
import { modern, send } from "./wire.ts";

it("is not ready if the store has lost changes, even without any file request", async () => {
  const base = tree();
  const [store, backup, root] = ["store", "backup", "root"].map(name => join(base, name));
  if (store === undefined || backup === undefined || root === undefined) throw new Error();
  mkdirSync(root);
  const args = ["--store", store, "--store-workspace", "w", "--state-dir", join(base, "state")];
  const { url } = await start(...args, root);
  expect((await send(`${url}/readyz`)).status).toBe(200);
  cpSync(store, backup, { recursive: true });
  const params = { name: "write_file", arguments: { path: join(root, "lost"), content: "acknowledged\n" } };
  expect((await modern(`${url}/mcp`, "tools/call", params)).body).toContain("created");
  expect((await send(`${url}/readyz`)).status).toBe(200);
  rmSync(store, { recursive: true });
  cpSync(backup, store, { recursive: true });
  await expect.poll(async () => (await send(`${url}/readyz`)).status, { timeout: 60_000 }).toBe(503);
  expect((await send(`${url}/readyz`)).body).toContain("has lost changes");
});
