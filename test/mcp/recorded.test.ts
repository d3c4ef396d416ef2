// What the audit has of each method: whichever shows names or contents of files has a line.
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { defaultSettings } from "../../src/contract/settings.ts";
import { dialects } from "../../src/dialects/index.ts";
import { openEngine } from "../../src/engine/engine.ts";
import { createServer } from "../../src/mcp/server.ts";
import { serveFixture } from "./in-process.ts";

it("every method that shows a file is recorded with what it names", async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-recorded-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  writeFileSync(join(root, "needle.txt"), "");
  using engine = openEngine({ roots: [{ path: root, access: "read-write" }] });
  const dialect = await dialects.polyfs();
  const entries: Record<string, unknown>[] = [];
  const audit = (entry: object | string) =>
    void entries.push(typeof entry === "string" ? JSON.parse(`{${entry}}`) : entry);
  const options = { dialect, engine, settings: defaultSettings, info: { name: "test", version: "1" } };
  await using wire = serveFixture({ ...options, audit });
  await wire.initialize();
  const argument = { name: "path", value: `${root.slice(1)}/` };
  const params = {
    name: "list_directory",
    arguments: { path: "." },
    uri: pathToFileURL(root).href,
    ref: { type: "ref/resource", uri: "file:///{+path}" },
    argument,
  };
  const showing: string[] = [];
  for (const [method, { era }] of createServer({ ...options, subscriptions: true }).methods) {
    if (era === "modern" || method === "initialize") continue;
    entries.length = 0;
    const answer = await wire.request(method, params);
    if (!JSON.stringify(answer).includes("needle.txt")) continue;
    showing.push(method);
    expect([method, entries.length, entries[0]?.outcome]).toEqual([method, 1, "ok"]);
  }
  expect(showing.sort()).toEqual(["completion/complete", "resources/read", "tools/call"]);
  await wire.request("completion/complete", params);
  const recorded = { tool: "completion/complete", paths: [argument.value], decision: "allowed" };
  expect(entries.at(-1)).toMatchObject(recorded);
  expect(entries.at(-1)).not.toHaveProperty("fault");
  for (const [value, fault, decision] of [
    ["etc/", "outside_roots", "denied"],
    [`${root.slice(1)}/../`, "outside_roots", "denied"],
    [`${root.slice(1)}/gone/`, "not_found", "allowed"],
    [root.slice(1, -3), undefined, "allowed"], // on the way to the root, which is offered
  ]) {
    await wire.request("completion/complete", { ...params, argument: { name: "path", value } });
    const { fault: found, decision: decided } = entries.at(-1) ?? {};
    expect([value, found, decided]).toEqual([value, fault, decision]);
  }
});
